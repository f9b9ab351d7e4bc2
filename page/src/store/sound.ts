// A tone per priority while something is unacknowledged, again every ten seconds. Off until somebody switches it on.
import { effect, signal } from "@preact/signals";
import { digit } from "../lib/codes";
import { waits } from "./site";

export type Sound = "off" | "on" | "blocked";
export const sound = signal<Sound>("off");
export const mutedUntil = signal(0);
const MUTE_MS = 5 * 60_000, AGAIN_MS = 10_000;
const TONES = [[880, 660, 880], [740, 740], [520], [390]];

let audio: AudioContext | null = null;
let timer = 0;

/** Off to on, on to muted for five minutes, muted to off. */
export async function press(): Promise<void> {
  if (sound.value === "on" && mutedUntil.value < Date.now()) mutedUntil.value = Date.now() + MUTE_MS;
  else if (sound.value === "on") {
    mutedUntil.value = 0;
    sound.value = "off";
  } else {
    audio ??= new AudioContext();
    await audio.resume().catch(() => undefined);
    sound.value = audio.state === "running" ? "on" : "blocked";
  }
  ring();
}

function ring(): void {
  clearTimeout(timer);
  const worst = waits.peek().find((item) => item.state === "unacknowledged");
  if (!worst || sound.peek() !== "on" || !audio) return;
  if (mutedUntil.peek() < Date.now()) play(TONES[digit(worst.priority) - 1] ?? []);
  timer = window.setTimeout(ring, AGAIN_MS);
}

function play(tones: number[]): void {
  tones.forEach((tone, place) => {
    const begin = audio!.currentTime + place * 0.22;
    const voice = audio!.createOscillator();
    const volume = audio!.createGain();
    voice.frequency.value = tone;
    volume.gain.setValueAtTime(0, begin);
    volume.gain.linearRampToValueAtTime(0.2, begin + 0.02);
    volume.gain.linearRampToValueAtTime(0, begin + 0.2);
    voice.connect(volume).connect(audio!.destination);
    voice.start(begin);
    voice.stop(begin + 0.21);
  });
}

effect(() => {
  void waits.value.filter((item) => item.state === "unacknowledged").length;
  ring();
});
