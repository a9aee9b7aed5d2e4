// What pages find by their import maps; types of these are not looked at.
declare module "socket.io-client";
declare module "ts-fsrs";

// Of what is vendored, as far as scripts here use it.

declare module "@preact/signals" {
  export interface ReadonlySignal<T> {
    readonly value: T;
    peek(): T;
    subscribe(listener: (value: T) => void): () => void;
  }
  export interface Signal<T> extends ReadonlySignal<T> {
    value: T;
  }
  export function signal<T>(value: T): Signal<T>;
  export function computed<T>(compute: () => T): ReadonlySignal<T>;
  export function effect(run: () => void | (() => void)): () => void;
  export function batch<T>(run: () => T): T;
}

declare module "preact" {
  export interface VNode {
    readonly type: unknown;
    readonly props: unknown;
  }
  export function render(what: VNode | null, place: Element): void;
}

declare module "preact/hooks" {
  export function useState<T>(first: T | (() => T)): [T, (next: T | ((now: T) => T)) => void];
  export function useRef<T>(first: T): { current: T };
  export function useMemo<T>(compute: () => T, on?: readonly unknown[]): T;
  export function useEffect(run: () => void | (() => void), on?: readonly unknown[]): void;
  export function useLayoutEffect(run: () => void | (() => void), on?: readonly unknown[]): void;
}

declare module "htm/preact" {
  import type { VNode } from "preact";
  export function html(strings: TemplateStringsArray, ...values: unknown[]): VNode;
}
