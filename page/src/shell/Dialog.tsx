// A modal dialog: focus inside, Esc closes, Ctrl+Enter sends.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { dialog } from "../store/dialogs";

export const close = (): void => {
  dialog.value = null;
};

export function Dialog({ title, children, onSend, wide = false, canClose = true }: {
  title: string; children: ComponentChildren; onSend?: () => void; wide?: boolean; canClose?: boolean;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    element.current?.showModal();
    element.current?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => before?.focus();
  }, []);
  return (
    <dialog ref={element} class={wide ? "wide" : ""} aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        if (canClose) close();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          onSend?.();
        }
      }}>
      <form method="dialog" onSubmit={(event) => {
        event.preventDefault();
        onSend?.();
      }}>
        <h2 id="dialog-title" class="dialog-title">{title}</h2>
        {children}
      </form>
    </dialog>
  );
}
