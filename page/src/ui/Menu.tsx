// A button with a sheet of further choices.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export function Menu({ label, button, className = "button", children }: {
  label: string; button: ComponentChildren; className?: string; children: ComponentChildren;
}) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const away = (event: Event) => {
      if (event instanceof KeyboardEvent ? event.key === "Escape" : !root.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", away);
    addEventListener("keydown", away);
    return () => {
      removeEventListener("pointerdown", away);
      removeEventListener("keydown", away);
    };
  }, [isOpen]);
  return (
    <div class="menu" ref={root}>
      <button type="button" class={className} aria-expanded={isOpen} aria-label={label} onClick={() => setOpen(!isOpen)}>{button}</button>
      {isOpen && <div class="sheet" onClick={() => setOpen(false)}>{children}</div>}
    </div>
  );
}
