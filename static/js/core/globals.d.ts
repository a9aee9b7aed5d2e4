// What scripts call the shapes of wire.d.ts in their comments.

import type * as wire from "./wire";

declare global {
  /** What the settings of every page tell of. */
  interface WindowEventMap {
    settings: CustomEvent<{ name: string; value: string }>;
  }
  type BatchResult = wire.BatchResult;
  type Cue = wire.Cue;
  type Partition = wire.Partition;
  type Step = wire.Step;
  type View = wire.View;
}
