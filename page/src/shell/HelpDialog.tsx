// The keys, and the choices of the person.
import { lettersAreKeys, temperature, theme } from "../store/preferences";
import { Segments } from "../ui/Segments";
import { Dialog, close } from "./Dialog";

const KEYS: [string[], string][] = [
  [["j", "k"], "next, previous row"], [["Enter"], "open"], [["x"], "select row"], [["a"], "acknowledge..."],
  [["s"], "shelve..."], [["d"], "what was it?..."], [["n"], "show new rows"], [["[", "]"], "previous, next zone"],
  [["g", "o"], "go to overview"], [["g", "a"], "go to alarms"], [["g", "z"], "go to zones"], [["g", "k"], "go to KPIs"],
  [["g", "m"], "go to model"], [["/"], "search"], [["m"], "sound on or off"], [["t"], "table instead of picture"],
  [["i"], "inject (studio)"], [["Esc"], "close, clear selection"], [["?"], "this list"],
];

export function HelpDialog() {
  return (
    <Dialog title="Keyboard" wide onSend={close}>
      <div class="inside">
        <dl class="keyboard">
          {KEYS.map(([keys, says]) => [
            <dt key={says}>{keys.map((key) => <kbd key={key}>{key}</kbd>)}</dt>,
            <dd key={`${says}-words`} class="dim">{says}</dd>,
          ])}
        </dl>
        <p class="small dim">Letters do nothing while you type in a field. Nothing irreversible has a single key: a, s and d open a dialog.</p>
        <label class="row"><input type="checkbox" checked={lettersAreKeys.value} onChange={(event) => (lettersAreKeys.value = event.currentTarget.checked)} /> Letters are keys</label>
      </div>
      <footer><button type="submit" class="button" data-first>Close <kbd>Esc</kbd></button></footer>
    </Dialog>
  );
}

export function ChoicesDialog() {
  return (
    <Dialog title="Your choices" onSend={close}>
      <div class="inside">
        <p class="strong">Theme</p>
        <Segments label="Theme" value={theme.value} onChange={(value) => (theme.value = value)}
          options={[{ value: "system", title: "as the system" }, { value: "light", title: "light" }, { value: "dark", title: "dark" }]} />
        <p class="strong">Temperatures</p>
        <Segments label="Temperatures" value={temperature.value} onChange={(value) => (temperature.value = value)}
          options={[{ value: "degC", title: "°C" }, { value: "degF", title: "°F" }]} />
        <label class="row"><input type="checkbox" checked={lettersAreKeys.value} onChange={(event) => (lettersAreKeys.value = event.currentTarget.checked)} /> Letters are keys</label>
        <p class="small dim">Kept in this browser.</p>
      </div>
      <footer><button type="submit" class="button" data-first>Close <kbd>Esc</kbd></button></footer>
    </Dialog>
  );
}
