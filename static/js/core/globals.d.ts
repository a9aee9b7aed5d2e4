// What scripts call the shapes of wire.d.ts in their comments.

import type * as wire from "./wire";

declare global {
  /** What the settings of every page tell of. */
  interface WindowEventMap {
    settings: CustomEvent<{ name: string; value: string }>;
  }
  /** What a folder of static files tells its pages (places.js), made when it is built. */
  var highwaterMap: {
    langs: string[];
    pages: string[];
    any: string[];
    needs: string[];
    codes: Record<string, string>;
    answers: string[];
    files: Record<string, string | number>;
    packs: Record<string, string>;
    words: Record<string, Record<string, string>>;
  };
  /** The site around a page that has no server. */
  var highwaterSite:
    | undefined
    | {
        placed: (path: string) => string;
        connect: (how: any) => any;
        t: (key: string, args?: object) => string;
        lang: string;
        engine: () => import("../site/engine").Engine;
      };
  type BatchResult = wire.BatchResult;
  type Cue = wire.Cue;
  type Partition = wire.Partition;
  type Step = wire.Step;
  type View = wire.View;
}
