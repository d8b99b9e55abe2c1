import { useQuery } from '@tanstack/react-query';
import { api, send } from '../../../api/client.ts';
import { Highlighted } from '../../../widgets/highlighted.tsx';
import type { Call } from '../use-calls.ts';

/** Characters before the first hit. */
const BEFORE = 40;
const LENGTH = 220;

/** Where the words that were searched for stand, in the first utterance that has them. */
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
  // A cut never halves a character of two units.
  const from = safeCut(text, Math.max(0, first.start_char - BEFORE));
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

function safeCut(text: string, at: number): number {
  const isLowSurrogate = /[\uDC00-\uDFFF]/.test(text.charAt(at));
  return isLowSurrogate ? at - 1 : at;
}
