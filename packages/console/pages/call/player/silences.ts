import type { CallDetail } from '../use-call.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A pause that is shorter belongs to the conversation. */
const LEAST_S = 1.5;
/** What stays of a silence at either end, so that no sound of a word is cut. */
const KEPT_S = 0.3;

/** Where nobody speaks, in seconds, as far as the transcript says. */
export function silencesOf({ audio, transcript }: Pick<CallDetail, 'audio' | 'transcript'>): readonly Span[] {
  const spoken = (transcript?.utterances ?? []).flatMap(({ start, end }) =>
    start === null || end === null ? [] : [{ start, end }],
  );
  if (audio === null || spoken.length === 0) return [];
  const silences: Span[] = [];
  let quietFrom = 0;
  const add = (end: number) => {
    if (end - quietFrom >= LEAST_S) silences.push({ start: quietFrom + KEPT_S, end: end - KEPT_S });
  };
  for (const { start, end } of spoken.toSorted((a, b) => a.start - b.start)) {
    add(start);
    quietFrom = Math.max(quietFrom, end);
  }
  add(audio.duration);
  return silences;
}
