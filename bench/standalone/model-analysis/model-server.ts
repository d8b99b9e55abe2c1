// A language model that takes two seconds for each answer, and quotes each call once a question. Runs as a child process.
import { goodReply, ModelServer, replyWith } from '../../../services/analysis/test/model-server.ts';

const server = await new ModelServer().listen();
server.delayMs = Number(process.argv[2]);
server.behaviour = (request) => {
  const said = request.utterances.find(({ role }) => role === 'operator');
  server.requests.length = 0;
  if (said === undefined) return goodReply(request);
  const quotes = [{ utterance: said.index, quote: said.text }];
  return replyWith(
    request.questions.map(({ question_uuid, labels, quote, no_quote_needed }) =>
      quote === 'client'
        ? { question_uuid, answer: no_quote_needed, confidence: 0.9, quotes: [], explanation: 'Nothing of the kind.' }
        : { question_uuid, answer: labels[0], confidence: 0.9, quotes, explanation: 'The operator says so.' },
    ),
  );
};
process.send?.(server.url);
process.once('disconnect', () => process.exit());
