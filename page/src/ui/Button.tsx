// A button that keeps its place when it may not be pressed, and says why on focus.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { isCutOff } from "../store/live";

interface Props {
  children: ComponentChildren; onClick: () => void; kind?: "main" | "tall" | "bar" | ""; refused?: string | null;
  needsServer?: boolean; label?: string; shortcut?: string; type?: "button" | "submit";
}

export function Button({ children, onClick, kind = "", refused = null, needsServer = true, label, shortcut, type = "button" }: Props) {
  const id = useId();
  const why = refused ?? (needsServer && isCutOff.value ? "This page is cut off: nothing you press here would reach the monitor." : null);
  return (
    <>
      <button type={type} class={`button ${kind}`} aria-label={label} aria-disabled={why ? "true" : undefined} title={why ?? undefined}
        aria-describedby={why ? id : undefined} aria-keyshortcuts={shortcut} onClick={() => (why ? undefined : onClick())}>
        {children}
        {shortcut && <kbd aria-hidden="true">{shortcut}</kbd>}
      </button>
      {why && <span id={id} class="hidden-text">{why}</span>}
    </>
  );
}
