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
  /** A run as far as it is known here: its facts, and those of its steps that have arrived. */
  interface Tape {
    digest: string;
    facts: any;
    steps: Map<number, Step & { changed?: Set<string>; was?: any }>;
    /** The longest log of the steps that have arrived. */
    widest?: number;
    /** The run it left, and the last step of it that is also a step of this one. */
    parent?: Tape | null;
    fork?: number;
    name?: string | null;
    text?: string | null;
    /** The text, packed for an address. */
    packed?: string;
    saved?: boolean;
    /** Does it differ from its parent in who moves messages only? */
    pace?: boolean;
    /** Was it made by a move of this visit? */
    moved?: boolean;
    /** The highest end that any log of a partition has in the whole run. */
    highest: Record<string, number>;
    /** While only its first steps are known: resolved once its end is. */
    ending?: Promise<void> | null;
    /** The furthest step that was on the stage. */
    seen?: number;
    /** Is it the run that the leader of a class is at? */
    led?: boolean;
  }
  /** What a server tells the page of the stage when it is made. */
  interface Boot {
    run: string;
    lang: string;
    bare: boolean;
    library: boolean;
    named: boolean;
    room: string | null;
    scenario: any;
    /** What recordings of real brokers say of the scenario. */
    seen: {
      releases: string[];
      profiles: Record<string, string>;
      equal: number;
      explained: number;
      href: string;
    } | null;
    [more: string]: any;
  }
  interface Notice {
    kind: "bad" | "warn" | "ok";
    text: string;
    /** Until it is closed, whatever comes. */
    stays?: boolean;
    /** What can be copied: a command. */
    copy?: string | null;
    /** An address that can be followed. */
    link?: string;
  }
  /** The class that a page is in. */
  interface Classroom {
    room: string;
    role: "lead" | "follow" | null;
    own?: boolean;
    [more: string]: any;
  }
  /** Runs that were put away while one is asked what comes. */
  interface PutAway {
    run: string;
    n: number;
    runs: { digest: string; more: any; called: any }[];
    ending?: boolean;
  }
  type BatchResult = wire.BatchResult;
  type Cue = wire.Cue;
  type Partition = wire.Partition;
  type Step = wire.Step;
  type View = wire.View;
}
