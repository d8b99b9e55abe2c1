import { z } from 'zod';
import type { Schemas } from '../calls-api.ts';
import { page, partsOf } from '../pages.ts';
import { analysisFacts } from './analysis.ts';
import { callUuid, cursor, tool, UNTRUSTED } from './tool.ts';

export const getCall = tool({
  name: 'get_call',
  title: 'Read a call',
  description: `Returns one call: who, when, its score, the summary of its analysis, and the conversation in the order in which it was said. For the rest of a long conversation use next_cursor. explain_score explains the score, answer by answer. ${UNTRUSTED}`,
  input: z.strictObject({ uuid: callUuid, cursor }),
  async run(api, input) {
    const { transcript, analysis, analyses, history, audio, ...call } = await api.getCall(input.uuid);
    const facts = {
      call,
      audio: audio === null ? null : withoutUrl(audio),
      language: transcript?.language ?? call.language,
      analysis: analysis === null ? null : analysisFacts(analysis),
      number_of_analyses: analyses.length,
      history: history.map(({ status, at }) => ({ status, at })),
    };
    const items = (transcript?.utterances ?? []).flatMap(utteranceParts);
    return page({ facts, factsAgain: { uuid: call.uuid }, name: 'utterances', items, cursor: input.cursor });
  },
});

/** Anyone who reads a signed URL could open the recording. */
function withoutUrl({ url: _url, url_expires_at: _expiry, ...audio }: Schemas['Recording']) {
  return audio;
}

function utteranceParts({ index, role, text, start, end, doubtful }: Schemas['Utterance']): object[] {
  const parts = partsOf(text);
  const times = start === null ? {} : { start, end };
  return parts.map((part, at) => ({
    index,
    role,
    ...times,
    ...(doubtful && { doubtful }),
    ...(parts.length > 1 && { part: at + 1, parts: parts.length }),
    untrusted_text: part,
  }));
}
