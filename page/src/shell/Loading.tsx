// The first second, with words after five.
import { useEffect, useState } from "preact/hooks";
import { refresh } from "../store/site";
import { Icon } from "../ui/Icon";

export function Loading() {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 5000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status">
      <div class="tiles" aria-hidden="true">
        {Array.from({ length: 12 }, (_, place) => <div key={place} class="blank tile" />)}
      </div>
      <p class="dim">{isLate ? "Still reading. Scoring goes on without this page." : "Reading the journal..."}</p>
    </div>
  );
}

export function ReadFailed({ words }: { words: string }) {
  return (
    <div class="card said-state" role="alert">
      <h1 class="row"><Icon name="warning" /> This site could not be read.</h1>
      <p class="dim">{words} Scoring and alarms go on.</p>
      <button class="link" onClick={() => void refresh()}>Try again</button>
    </div>
  );
}
