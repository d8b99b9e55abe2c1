import type { Analysis, Role, Utterance } from '@call-analysis/events';

type Metrics = Analysis['metrics'];

/** A shorter overlap is an ordinary change of speakers, not an interruption. */
const INTERRUPTION_SECONDS = 0.5;

interface Speech {
  readonly role: Role;
  readonly start: number;
  readonly end: number;
}

/**
 * Measures talk ratio, interruptions and monologues. `wordCounts` has the number of words in each utterance. Unless every
 * utterance has times, shares and monologues are measured in words instead. Shares add up to 1, or are all 0.
 */
export function measureConversation(
  utterances: readonly Utterance[],
  wordCounts: ArrayLike<number>,
  questionsAsked: number,
  duration: number | null,
): Metrics {
  const words = { operator: 0, client: 0 };
  utterances.forEach(({ role }, index) => {
    words[role] += wordCounts[index] ?? 0;
  });
  const speeches = withTimes(utterances);
  return {
    talk_ratio: speeches === null ? shares(words.operator, words.client, null) : sharesOfTime(speeches, duration),
    interruptions: speeches === null ? null : countInterruptions(speeches),
    longest_monologue: longestMonologue(utterances, wordCounts, speeches !== null),
    words,
    questions_asked: questionsAsked,
  };
}

/** The utterances in the order in which they start, or null when any has no times. */
function withTimes(utterances: readonly Utterance[]): Speech[] | null {
  const speeches: Speech[] = [];
  for (const { role, start, end } of utterances) {
    if (start === null || end === null) return null;
    speeches.push({ role, start, end: Math.max(start, end) });
  }
  if (speeches.length === 0) return null;
  return speeches.sort((one, other) => one.start - other.start || one.end - other.end);
}

function sharesOfTime(speeches: readonly Speech[], duration: number | null): Metrics['talk_ratio'] {
  const operator = coveredSeconds(speeches.filter(({ role }) => role === 'operator'));
  const client = coveredSeconds(speeches.filter(({ role }) => role === 'client'));
  const last = speeches.reduce((latest, { end }) => Math.max(latest, end), 0);
  const silence = Math.max(0, Math.max(duration ?? 0, last) - coveredSeconds(speeches));
  return shares(operator, client, silence);
}

function shares(operator: number, client: number, silence: number | null): Metrics['talk_ratio'] {
  const total = operator + client + (silence ?? 0);
  const share = (part: number) => (total === 0 ? 0 : Math.round((part / total) * 1000) / 1000);
  return { operator: share(operator), client: share(client), silence: silence === null ? null : share(silence) };
}

/** The seconds in which at least one of the speeches is spoken. They must be in the order in which they start. */
function coveredSeconds(speeches: readonly Speech[]): number {
  let covered = 0;
  let until = 0;
  for (const { start, end } of speeches) {
    if (end <= until) continue;
    covered += end - Math.max(start, until);
    until = end;
  }
  return covered;
}

function countInterruptions(speeches: readonly Speech[]): number {
  let interruptions = 0;
  const until = { operator: 0, client: 0 };
  for (const { role, start, end } of speeches) {
    const other = role === 'operator' ? 'client' : 'operator';
    if (Math.min(until[other], end) - start >= INTERRUPTION_SECONDS) interruptions += 1;
    until[role] = Math.max(until[role], end);
  }
  return interruptions;
}

function longestMonologue(
  utterances: readonly Utterance[],
  wordCounts: ArrayLike<number>,
  hasTimes: boolean,
): Metrics['longest_monologue'] {
  const longest = { operator: 0, client: 0 };
  let run = 0;
  let startedAt = 0;
  let speaker: Role | null = null;
  utterances.forEach(({ role, start, end }, index) => {
    if (role !== speaker) {
      run = 0;
      startedAt = start ?? 0;
      speaker = role;
    }
    if (hasTimes) run = Math.max(run, (end ?? 0) - startedAt);
    else run += wordCounts[index] ?? 0;
    longest[role] = Math.max(longest[role], Math.round(run * 100) / 100);
  });
  return longest;
}
