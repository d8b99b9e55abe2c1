import { Direction as KnownDirection, Role } from '@call-analysis/events';
import type { z } from 'zod';
import type { ValueFault } from './row-fault.ts';

export type Direction = z.infer<typeof KnownDirection>;

/** An optional `+` and 7 to 15 ASCII digits (docs/api.md, "Single upload"). Kept as written. */
export function parsePhone(text: string): string | ValueFault {
  if (/^\+?\d{7,15}$/.test(text)) return text;
  return {
    fault: 'INVALID_PHONE_NUMBER',
    message: `client_phone_number must be 7 to 15 digits, optionally with + in front. ${phoneAdvice(text)}`,
  };
}

function phoneAdvice(text: string): string {
  if (/^\d(?:[.,]\d+)?e\+?\d+$/i.test(text)) {
    return 'A spreadsheet has rounded this one: format the column as text and enter the number again.';
  }
  if (/^\+?\d+[.,]0+$/.test(text)) return 'Remove the decimals: format the column as text.';
  if (/^\+?\d+$/.test(text)) {
    const count = text.replace('+', '').length;
    return `This one has ${count} ${count === 1 ? 'digit' : 'digits'}: complete or correct it.`;
  }
  if (/^\+?[\d\s().\-–/]+$/.test(text)) return 'Remove spaces, hyphens, dots, slashes and brackets.';
  if (/^[+\p{Nd}]+$/u.test(text)) return 'Write it in the digits 0 to 9, with at most one + in front.';
  return 'Remove everything else, including extensions and second numbers.';
}

/** `inbound` or `outbound` in any case. */
export function parseDirection(text: string): Direction | ValueFault {
  const found = KnownDirection.options.find((each) => each === text || each === text.toLowerCase());
  if (found !== undefined) return found;
  return {
    fault: 'INVALID_DIRECTION',
    message: 'direction must be inbound or outbound. Leave it out when it is unknown.',
  };
}

const LONGEST_CALL_SECONDS = 86_400;

/** Whole seconds in ASCII digits, 0 to 86,400. */
export function parseDuration(text: string): number | ValueFault {
  if (/^\d+$/.test(text) && Number(text) <= LONGEST_CALL_SECONDS) return Number(text);
  return {
    fault: 'INVALID_DURATION',
    message: `duration must be whole seconds from 0 to ${LONGEST_CALL_SECONDS}, digits only. ${durationAdvice(text)}`,
  };
}

function durationAdvice(text: string): string {
  if (/^\d+(?::\d\d){1,2}$/.test(text)) return 'Convert hours and minutes to seconds.';
  if (/^\d+(?:[.,]\d+)+$/.test(text)) return 'Round it, and remove thousands separators.';
  if (/^\d+$/.test(text)) {
    return `This one is over ${LONGEST_CALL_SECONDS} (24 hours). If it is in milliseconds, divide it by 1000.`;
  }
  return 'Remove signs, units and separators.';
}

/** `operator` or `client` in any case: who speaks on a channel. */
export function parseChannel(column: string, text: string): Role | ValueFault {
  const role = Role.safeParse(text.toLowerCase());
  if (role.success) return role.data;
  return { fault: 'INVALID_CHANNEL', message: `${column} must be operator or client: who speaks on that channel.` };
}

export const sameChannel: ValueFault = {
  fault: 'SAME_CHANNEL',
  message: 'left_channel and right_channel name the same speaker. One must be operator, the other client.',
};

/** The extensions of supported recordings, in any case (docs/api.md, "Single upload"). */
const RECORDING = /\.(?:aiff|au|flac|mp3|ogg|wav)$/i;

/** Null when the name has the extension of a supported recording. */
export function checkExtension(fileName: string): ValueFault | null {
  return RECORDING.test(fileName) ? null : unknownExtension;
}

const unknownExtension: ValueFault = {
  fault: 'INVALID_FILE_FORMAT',
  message: 'audio_file_name must end in .aiff, .au, .flac, .mp3, .ogg or .wav. Convert the recording to one of these.',
};

/** Segment types that a message lists. */
const LISTED_SEGMENT_TYPES = 50;

/** Creates the rule for `segment_type`: exactly one of the firm's names. */
export function segmentTypeRule(names: ReadonlySet<string>): (text: string) => string | ValueFault {
  const byFoldedName = new Map(Array.from(names, (name) => [fold(name), name]));
  const more = names.size > LISTED_SEGMENT_TYPES ? ` and ${names.size - LISTED_SEGMENT_TYPES} more` : '';
  const listed = [...names].slice(0, LISTED_SEGMENT_TYPES).join(', ') + more;
  const existing =
    names.size === 0 ? 'Your firm has none yet: ask your administrator to add one.' : `Your firm has these: ${listed}.`;
  return (text) => {
    if (names.has(text)) return text;
    const nearest = byFoldedName.get(fold(text));
    const suggestion = nearest === undefined ? '' : `Write exactly ${nearest}. `;
    const message = `segment_type is not a segment type of your firm. ${suggestion}${existing}`;
    return { fault: 'UNKNOWN_SEGMENT_TYPE', message };
  };
}

/** Ignores case, Unicode composition and the kind of white space, to find the name that was probably meant. */
function fold(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .trim()
    .replaceAll(/[\s_-]+/g, ' ');
}
