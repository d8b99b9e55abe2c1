import type { Role, Utterance } from '@call-analysis/events';
import type { Side } from './audio/stereo.ts';
import type { RecordingTranscript } from './workers/transcribe-recording.ts';

/** The utterances on two channels, in any order; seconds from the recording's beginning. */
export type TranscribedChannels = Pick<RecordingTranscript, 'duration' | 'isDualMono' | 'utterances'>;

/** An utterance is a duplicate when at least this share of it overlaps with utterances on the other channel. */
const DUPLICATE_OVERLAP = 0.5;

/**
 * Merges the channels' utterances into one conversation, by start time and with the channels' roles. The notes are
 * sentences for its readers.
 */
export function conversationOf(channels: TranscribedChannels, roles: Readonly<Record<Side, Role>>) {
  const { isDualMono, duration } = channels;
  const distinct = isDualMono ? withoutDuplicates(channels.utterances) : channels.utterances;
  const utterances: Utterance[] = distinct
    .map(({ side, text, start, end, confidence }) => {
      const startsAt = toHundredths(Math.min(start, duration));
      return {
        role: roles[isDualMono ? 'left' : side],
        text,
        start: startsAt,
        end: Math.max(startsAt, toHundredths(Math.min(end, duration))),
        ...(confidence !== undefined && { confidence: toHundredths(confidence) }),
      };
    })
    .toSorted((a, b) => a.start - b.start || a.end - b.end);
  return { utterances, notes: utterances.length === 0 ? [] : notesOn(channels, roles) };
}

function notesOn({ isDualMono, utterances }: TranscribedChannels, roles: Readonly<Record<Side, Role>>): string[] {
  if (isDualMono) {
    return [
      `Both channels carry the same sound, so who speaks is unknown: everything is shown as said by the ${roles.left}.`,
    ];
  }
  const silent = (['left', 'right'] as const).filter((side) => !utterances.some((each) => each.side === side));
  return silent.map((side) => `Nothing is said on the ${roles[side]}'s (${side}) channel.`);
}

/** Removes utterances on the right channel that were also transcribed on the left one. */
function withoutDuplicates(utterances: TranscribedChannels['utterances']): TranscribedChannels['utterances'] {
  const left = utterances.filter(({ side }) => side === 'left');
  const isDuplicate = ({ start, end }: TranscribedChannels['utterances'][number]) =>
    left.reduce((sum, each) => sum + Math.max(Math.min(each.end, end) - Math.max(each.start, start), 0), 0) >=
    DUPLICATE_OVERLAP * (end - start);
  return utterances.filter((each) => each.side === 'left' || !isDuplicate(each));
}

function toHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
