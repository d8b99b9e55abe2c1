import { useQuery } from '@tanstack/react-query';
import { api, send } from '../../../api/client.ts';
import { Highlighted } from '../../../widgets/highlighted.tsx';
import type { Call } from '../use-calls.ts';

/** Characters before the first hit. */
const BEFORE = 24;
const LENGTH = 220;

/** The matched words in the first utterance that contains them. */
export function Snippet({ call }: { call: Call }) {
  const [first] = call.matches ?? [];
  const { data } = useQuery({
    queryKey: ['transcript', call.uuid],
    queryFn: ({ signal }) =>
      send(api.GET('/api/v1/calls/{uuid}', { params: { path: { uuid: call.uuid } }, signal })).then(
        ({ transcript }) => transcript,
      ),
    enabled: first !== undefined,
    staleTime: Infinity,
  });
  const text = first === undefined ? undefined : data?.utterances[first.utterance]?.text;
  if (first === undefined || text === undefined) return null;
  const from = cutBefore(text, first.start_char);
  const hits = (call.matches ?? []).filter(({ utterance }) => utterance === first.utterance);
  return (
    <span className="calls-snippet foreign-line">
      {from > 0 && '…'}
      <Highlighted
        text={text.slice(from, from + LENGTH)}
        spans={hits.map(({ start_char, end_char }) => ({ start: start_char - from, end: end_char - from }))}
      />
    </span>
  );
}

/**
 * The start of the snippet of a hit: the beginning of a word, unless a word is longer than the space before the hit.
 */
function cutBefore(text: string, hit: number): number {
  const earliest = hit - BEFORE;
  if (earliest <= 0) return 0;
  const space = text.slice(earliest, hit).search(/\s/);
  if (space >= 0) return earliest + space + 1;
  // A cut never halves a character of two units.
  const isLowSurrogate = /[\uDC00-\uDFFF]/.test(text.charAt(earliest));
  return isLowSurrogate ? earliest - 1 : earliest;
}
