import { TAGS, type TranscriptFault, transcriptFaults } from '../../calls/transcript-format.ts';
import { excerpt, type ValueFault, visible } from './row-fault.ts';

/** What an uploader is told of the faults of a transcript, in their order. */
export function checkTranscript(text: string): readonly ValueFault[] {
  return transcriptFaults(text).map((fault) =>
    fault.is === 'untagged' ? untagged(text, fault.at) : emptyUtterance(fault),
  );
}

/** Characters in which a message looks for something that may have been meant as a tag. */
const SEARCHED_CHARS = 10_000;
const RESEMBLES_TAG = /(?:[<＜‹[{(]|&lt;)[^<>]{1,40}?(?:[>＞›\]})]|&gt;)/;

function untagged(text: string, firstTag: number | null): ValueFault {
  const before = text.slice(0, Math.min(firstTag ?? SEARCHED_CHARS, SEARCHED_CHARS)).trim();
  const problem =
    firstTag === null
      ? 'anonymized_text has no role tag.'
      : `anonymized_text has text before its first role tag (at character ${firstTag + 1}): "${visible(excerpt(before, 40))}".`;
  const resembling = RESEMBLES_TAG.exec(before);
  const hint = resembling === null ? '' : ` "${visible(excerpt(resembling[0], 50))}" is not a role tag.`;
  const names = TAGS.map(({ name }) => `<${name}>`).join(', ');
  return {
    fault: 'MISSING_ROLE_TAG',
    message:
      `${problem}${hint} Begin every utterance with one of ${names}, ` +
      'in any case, with nothing else in the brackets.',
  };
}

function emptyUtterance({ tag, at, number }: Extract<TranscriptFault, { is: 'empty' }>): ValueFault {
  return {
    fault: 'EMPTY_UTTERANCE',
    message:
      `Utterance ${number} of anonymized_text, after <${tag}> at character ${at + 1}, is empty. ` +
      'Add its text or remove the tag.',
  };
}
