// What scripts call the shapes of wire.d.ts in their comments.

import type * as wire from "./wire";

declare global {
  type Cue = wire.Cue;
  type Partition = wire.Partition;
  type Step = wire.Step;
  type View = wire.View;
}
