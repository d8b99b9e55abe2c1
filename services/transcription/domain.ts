import type { Role, Utterance } from '@call-analysis/events';

type Side = 'left' | 'right';

/** What was said on two channels; seconds from the recording's beginning, in any order. */
export interface Recorded {
  readonly duration: number;
  /** Both channels are one recording. */
  readonly oneSound: boolean;
  readonly said: readonly {
    readonly side: Side;
    readonly text: string;
    readonly start: number;
    readonly end: number;
  }[];
}

export interface Conversation {
  /** By their beginning. */
  readonly utterances: Utterance[];
  /** What whoever reads it should know, in sentences. */
  readonly notes: string[];
}

/** Half of an utterance and more was said in another one: the same words, heard on the other channel. */
const SAME_WORDS = 0.5;

/** One conversation out of what was said on either channel, by time, each side under its role. */
export function conversationOf(recorded: Recorded, roles: Readonly<Record<Side, Role>>): Conversation {
  const { oneSound, duration } = recorded;
  const said = oneSound ? onceEach(recorded.said) : recorded.said;
  const utterances = said
    .map(({ side, text, start, end }) => {
      const begin = toHundredths(Math.min(start, duration));
      return {
        role: roles[oneSound ? 'left' : side],
        text,
        start: begin,
        end: Math.max(begin, toHundredths(Math.min(end, duration))),
      };
    })
    .toSorted((a, b) => a.start - b.start || a.end - b.end);
  return { utterances, notes: utterances.length === 0 ? [] : notesOn(recorded, roles) };
}

function notesOn({ oneSound, said }: Recorded, roles: Readonly<Record<Side, Role>>): string[] {
  if (oneSound) {
    return [
      `Both channels carry the same sound, so who speaks is unknown: everything is shown as said by the ${roles.left}.`,
    ];
  }
  const silent = (['left', 'right'] as const).filter((side) => !said.some((each) => each.side === side));
  return silent.map((side) => `Nothing is said on the ${roles[side]}'s (${side}) channel.`);
}

/** Without what of one recording was taken from its second channel too. */
function onceEach(said: Recorded['said']): Recorded['said'] {
  const left = said.filter(({ side }) => side === 'left');
  const isHeardLeft = ({ start, end }: Recorded['said'][number]) =>
    left.reduce((sum, each) => sum + Math.max(Math.min(each.end, end) - Math.max(each.start, start), 0), 0) >=
    SAME_WORDS * (end - start);
  return said.filter((each) => each.side === 'left' || !isHeardLeft(each));
}

function toHundredths(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
