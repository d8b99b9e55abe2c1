import type { ValueFault } from './row-fault.ts';

export type Direction = 'inbound' | 'outbound';

const ZERO = 48;
const LONGEST_CALL_SECONDS = 86_400;

/** `inbound` or `outbound` in any case. */
export function parseDirection(text: string): Direction | ValueFault {
  if (text === 'inbound' || text === 'outbound') return text;
  const lower = text.toLowerCase();
  if (lower === 'inbound' || lower === 'outbound') return lower;
  return { fault: 'INVALID_DIRECTION', message: 'direction must be inbound or outbound, or empty.' };
}

/** Whole seconds in ASCII digits, 0 to 86,400. */
export function parseDuration(text: string): number | ValueFault {
  let seconds = text === '' ? NaN : 0;
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - ZERO;
    seconds = digit >= 0 && digit <= 9 ? seconds * 10 + digit : NaN;
  }
  if (seconds <= LONGEST_CALL_SECONDS) return seconds;
  return {
    fault: 'INVALID_DURATION',
    message:
      `duration must be whole seconds from 0 to ${LONGEST_CALL_SECONDS}, in digits alone. ` + durationAdvice(text),
  };
}

function durationAdvice(text: string): string {
  if (/^\d+(?::\d\d){1,2}$/.test(text)) return 'Convert hours and minutes to seconds.';
  if (/^\d+(?:[.,]\d+)+$/.test(text)) return 'Round it, and leave out separators of thousands.';
  if (/^\d+$/.test(text)) {
    return `This one is over ${LONGEST_CALL_SECONDS} (24 hours): is it in milliseconds? Then divide it by 1000.`;
  }
  return 'Remove signs, units and separators.';
}

/** Names of segment types that a message shows. */
const SHOWN_SEGMENT_TYPES = 50;

/** A rule for `segment_type`: one of the firm's own names, exactly. */
export function segmentTypeRule(names: ReadonlySet<string>): (text: string) => string | ValueFault {
  const byFoldedName = new Map(Array.from(names, (name) => [fold(name), name]));
  const more = names.size > SHOWN_SEGMENT_TYPES ? ` and ${names.size - SHOWN_SEGMENT_TYPES} more` : '';
  const listed = [...names].slice(0, SHOWN_SEGMENT_TYPES).join(', ') + more;
  const has = names.size === 0 ? 'It has none yet: ask your administrator to add one.' : `It has: ${listed}.`;
  return (text) => {
    if (names.has(text)) return text;
    const nearest = byFoldedName.get(fold(text));
    const meant = nearest === undefined ? '' : `Write ${nearest}, exactly so. `;
    return { fault: 'UNKNOWN_SEGMENT_TYPE', message: `segment_type is not one that your firm has. ${meant}${has}` };
  };
}

/** What is left when case, form of composition and kind of blank do not count. */
function fold(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .trim()
    .replaceAll(/[\s_-]+/g, ' ');
}
