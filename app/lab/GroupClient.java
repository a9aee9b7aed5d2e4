import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * A member of a consumer group, or an admin client, that obeys the lines of its standard input.
 *
 * <p>After each line, and whenever something has changed, it prints its state as a line of JSON
 * that begins with "{"; `done` counts the lines that it has obeyed. It ends with its input.
 *
 * <p>Arguments: "member" or "admin", the topic, and the client's settings as name=value.
 */
public class GroupClient {
    static final Duration SHORT = Duration.ofMillis(100);
    static final Duration LONGER = Duration.ofSeconds(2);

    static final BlockingQueue<String> LINES = new LinkedBlockingQueue<>();

    public static void main(String[] args) throws Exception {
        Properties settings = new Properties();
        for (String setting : Arrays.copyOfRange(args, 2, args.length)) {
            String[] pair = setting.split("=", 2);
            settings.put(pair[0], pair[1]);
        }
        Thread reader = new Thread(GroupClient::read);
        reader.setDaemon(true);
        reader.start();
        if (args[0].equals("admin")) {
            describe(settings);
        } else {
            new Member(args[1], settings).run();
        }
    }

    static void read() {
        try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                LINES.add(line);
            }
        } catch (java.io.IOException ignored) {
            // The laboratory is gone.
        }
        Runtime.getRuntime().halt(0);
    }

    static String quoted(Object text) {
        return '"' + String.valueOf(text).replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    static String list(Stream<String> items) {
        return items.collect(Collectors.joining(",", "[", "]"));
    }

    static String partitions(Collection<TopicPartition> partitions) {
        return list(partitions.stream().map(TopicPartition::partition).sorted().map(String::valueOf));
    }

    static String offsets(Map<TopicPartition, Long> offsets) {
        Map<Integer, Long> sorted = new TreeMap<>();
        offsets.forEach((partition, offset) -> sorted.put(partition.partition(), offset));
        return list(sorted.entrySet().stream().map(one -> "[" + one.getKey() + "," + one.getValue() + "]"));
    }

    // -- the admin client --------------------------------------------------------------------------

    /** Each line is the name of a group; the state has its coordinator, members and offsets. */
    static void describe(Properties settings) throws InterruptedException {
        AdminClient admin = AdminClient.create(settings);
        System.out.println("{\"done\":0}");
        for (int done = 1; ; done++) {
            String group = LINES.take();
            String told;
            try {
                told = described(admin, group);
            } catch (ExecutionException | RuntimeException error) {
                Throwable cause = error.getCause() == null ? error : error.getCause();
                told = "\"error\":" + quoted(cause.getClass().getSimpleName());
            }
            System.out.println("{\"done\":" + done + "," + told + "}");
        }
    }

    static String described(AdminClient admin, String group)
            throws ExecutionException, InterruptedException {
        ConsumerGroupDescription found = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
        Stream<String> members = found.members().stream().map(member -> "["
            + quoted(member.consumerId()) + "," + quoted(member.clientId()) + ","
            + partitions(member.assignment().topicPartitions()) + "]");
        Map<TopicPartition, Long> committed = new HashMap<>();
        for (Map.Entry<TopicPartition, OffsetAndMetadata> entry
                : admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().entrySet()) {
            committed.put(entry.getKey(), entry.getValue().offset());
        }
        return "\"coordinator\":" + found.coordinator().id()
            + ",\"state\":" + quoted(found.state())
            + ",\"members\":" + list(members)
            + ",\"offsets\":" + offsets(committed);
    }

    // -- a member ----------------------------------------------------------------------------------

    /**
     * A consumer whose application obeys the lines.
     *
     * <p>It polls while it has nothing to do, with its partitions paused, so that it takes part in
     * rebalances and gets no records; after a poll that returned records it does not, until it reads
     * again.  A poll may commit with enable.auto.commit, so such a member polls only to join and read.
     */
    static class Member implements ConsumerRebalanceListener {
        final String topic;
        final Properties settings;
        KafkaConsumer<String, String> consumer;
        boolean polls;
        boolean reads;
        boolean joined;
        boolean commits;
        int done;
        String failed = "";
        String shown = "";
        final List<ConsumerRecord<String, String>> polled = new ArrayList<>();
        final Map<TopicPartition, Long> places = new HashMap<>();

        Member(String topic, Properties settings) {
            this.topic = topic;
            this.settings = settings;
        }

        void run() throws InterruptedException {
            show();
            while (true) {
                String line = LINES.poll(polls ? 0 : 100, TimeUnit.MILLISECONDS);
                try {
                    if (line != null) {
                        failed = "";
                        obey(line);
                    } else if (polls) {
                        poll();
                    }
                } catch (RuntimeException error) {
                    failed = error.getClass().getSimpleName();
                    if (failed.equals("FencedInstanceIdException")) {
                        end(Duration.ZERO);
                    }
                }
                commits = false;
                done += line == null ? 0 : 1;
                show();
            }
        }

        void obey(String line) {
            if (consumer == null && !line.equals("join")) {
                return; // it has been fenced
            }
            switch (line) {
                case "join":
                    consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
                    consumer.subscribe(List.of(topic), this);
                    polls = true;
                    break;
                case "read":
                    consumer.resume(consumer.assignment());
                    polls = reads = true;
                    break;
                case "process":
                    polled.clear();
                    break;
                case "commit":
                    commits = true;
                    show();
                    consumer.commitSync();
                    break;
                case "leave":
                    end(LONGER);
                    break;
                case "seek earliest":
                    consumer.seekToBeginning(consumer.assignment());
                    locate(LONGER);
                    break;
                case "seek latest":
                    consumer.seekToEnd(consumer.assignment());
                    locate(LONGER);
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
        }

        void end(Duration timeout) {
            consumer.close(timeout);
            consumer = null;
            polls = reads = joined = false;
            polled.clear();
            places.clear();
        }

        void poll() {
            consumer.poll(SHORT).forEach(polled::add);
            locate(SHORT);
            if (reads && joined && hasCaughtUp()) {
                reads = false;
                polls = polled.isEmpty();
                consumer.pause(consumer.assignment());
            }
            if ("true".equals(settings.get("enable.auto.commit")) && !isBusy()) {
                polls = false;
            }
        }

        void locate(Duration timeout) {
            places.keySet().retainAll(consumer.assignment());
            for (TopicPartition partition : consumer.assignment()) {
                try {
                    places.put(partition, consumer.position(partition, timeout));
                } catch (TimeoutException unknown) {
                    places.remove(partition);
                }
            }
        }

        boolean hasCaughtUp() {
            try {
                return consumer.endOffsets(consumer.assignment(), LONGER).entrySet().stream()
                    .allMatch(end -> places.getOrDefault(end.getKey(), -1L) >= end.getValue());
            } catch (TimeoutException unknown) {
                return false;
            }
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            joined = true;
            if (!reads) {
                consumer.pause(partitions);
            }
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            joined = false;
        }

        Stream<ConsumerRecord<String, String>> inOrder() {
            return polled.stream().sorted(Comparator.comparing(ConsumerRecord::partition));
        }

        boolean isBusy() {
            return commits || reads || polls && (!joined || places.size() < consumer.assignment().size());
        }

        /** KafkaConsumer.groupMetadata is there since 2.5 (KIP-447). */
        String membership() {
            try {
                Object found = KafkaConsumer.class.getMethod("groupMetadata").invoke(consumer);
                Class<?> type = found.getClass();
                return ",\"member\":" + quoted(type.getMethod("memberId").invoke(found))
                    + ",\"generation\":" + type.getMethod("generationId").invoke(found);
            } catch (ReflectiveOperationException unknown) {
                return "";
            }
        }

        long heartbeats() {
            return consumer.metrics().entrySet().stream()
                .filter(metric -> metric.getKey().name().equals("heartbeat-total"))
                .mapToLong(metric -> ((Double) metric.getValue().metricValue()).longValue())
                .sum();
        }

        void show() {
            String state = "{\"done\":" + done + ",\"alive\":" + (consumer != null) + ",\"failed\":" + quoted(failed);
            if (consumer != null) {
                state += ",\"busy\":" + isBusy()
                    + membership()
                    + ",\"heartbeats\":" + heartbeats()
                    + ",\"owns\":" + partitions(consumer.assignment())
                    + ",\"at\":" + offsets(places)
                    + ",\"polled\":" + list(inOrder().map(record -> quoted(record.value())));
            }
            if (!(state + "}").equals(shown)) {
                shown = state + "}";
                System.out.println(shown);
            }
        }
    }
}
