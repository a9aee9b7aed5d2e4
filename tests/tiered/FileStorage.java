
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/** Remote storage in a directory that all brokers share; a file "down" there makes it fail. */
public class FileStorage implements RemoteStorageManager {
    private Path directory;

    @Override
    public void configure(Map<String, ?> configs) {
        directory = Path.of((String) configs.get("directory"));
    }

    @Override
    public Optional<CustomMetadata> copyLogSegmentData(
            RemoteLogSegmentMetadata metadata, LogSegmentData data) throws RemoteStorageException {
        Path segment = of(metadata);
        try {
            Files.createDirectories(segment);
            Files.copy(data.logSegment(), segment.resolve("LOG"));
            Files.copy(data.offsetIndex(), segment.resolve("OFFSET"));
            Files.copy(data.timeIndex(), segment.resolve("TIMESTAMP"));
            Files.copy(data.producerSnapshotIndex(), segment.resolve("PRODUCER_SNAPSHOT"));
            if (data.transactionIndex().isPresent()) {
                Files.copy(data.transactionIndex().get(), segment.resolve("TRANSACTION"));
            }
            ByteBuffer epochs = data.leaderEpochIndex().duplicate();
            byte[] bytes = new byte[epochs.remaining()];
            epochs.get(bytes);
            Files.write(segment.resolve("LEADER_EPOCH"), bytes);
            return Optional.empty();
        } catch (IOException error) {
            throw new RemoteStorageException(error);
        }
    }

    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata metadata, int start)
            throws RemoteStorageException {
        return fetchLogSegment(metadata, start, Integer.MAX_VALUE);
    }

    @Override
    public InputStream fetchLogSegment(RemoteLogSegmentMetadata metadata, int start, int end)
            throws RemoteStorageException {
        try {
            InputStream stream = Files.newInputStream(of(metadata).resolve("LOG"));
            stream.skipNBytes(start);
            return stream;
        } catch (IOException error) {
            throw new RemoteStorageException(error);
        }
    }

    @Override
    public InputStream fetchIndex(RemoteLogSegmentMetadata metadata, IndexType type)
            throws RemoteStorageException {
        Path index = of(metadata).resolve(type.name());
        if (!Files.exists(index)) {
            throw new RemoteResourceNotFoundException("There is no " + index);
        }
        try {
            return Files.newInputStream(index);
        } catch (IOException error) {
            throw new RemoteStorageException(error);
        }
    }

    @Override
    public void deleteLogSegmentData(RemoteLogSegmentMetadata metadata)
            throws RemoteStorageException {
        Path segment = of(metadata);
        try {
            if (Files.exists(segment)) {
                Files.move(segment, segment.resolveSibling("deleted-" + segment.getFileName()));
            }
        } catch (IOException error) {
            throw new RemoteStorageException(error);
        }
    }

    @Override
    public void close() {}

    private Path of(RemoteLogSegmentMetadata metadata) throws RemoteStorageException {
        if (Files.exists(directory.resolve("down"))) {
            throw new RemoteStorageException("Remote storage is down.");
        }
        return directory.resolve(metadata.startOffset() + "-" + metadata.endOffset() + "-"
            + metadata.remoteLogSegmentId().id());
    }
}
