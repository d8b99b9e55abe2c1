import { type Command, InvalidArgumentError } from 'commander';
import { CliError, exitCodes } from '../exit-codes.ts';
import type { Session } from '../session.ts';

interface ReviewOptions {
  readonly answer: [question: string, label: string][];
  readonly comment?: string;
  readonly done?: boolean;
}

export function addReview(program: Command, session: Session): void {
  program
    .command('review <call_uuid>')
    .description("Put a person's answers in the place of the machine's. What is not named stays as it is.")
    .option('--answer <question=label...>', 'uuid of a question and the answer; `null` for not applicable', answer, [])
    .option('--comment <text>', 'on the whole review')
    .option('--done', 'agree with all that is not named')
    .addHelpText('after', '\nExample:\n  $ call-analysis review 019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301 --done')
    .action(async (uuid: string, { answer: given, comment, done }: ReviewOptions) => {
      if (given.length === 0 && comment === undefined && done !== true)
        throw new CliError(exitCodes.usage, 'Say what the review is: --answer, --comment or --done.');
      const client = await session.client();
      const params = { path: { uuid } };
      const call = await client.send(client.api.GET('/api/v1/calls/{uuid}', { params }));
      if (call.analysis === null)
        throw new CliError(exitCodes.failed, `The call is ${call.status}; it has no analysis yet.`);
      const body = {
        analysis_uuid: call.analysis.uuid,
        answers: given.map(([question_uuid, label]) => ({ question_uuid, answer: label === 'null' ? null : label })),
        ...(comment !== undefined && { comment }),
        ...(done === true && { done }),
      };
      const { review } = call.analysis;
      const header = review === null ? {} : { 'If-Match': `"${review.revision}"` };
      const reviewed = await client.send(
        client.api.PATCH('/api/v1/calls/{uuid}/review', { params: { ...params, header }, body }),
      );
      session.print(reviewed, `${uuid} score ${reviewed.score ?? '-'}`);
    });
}

function answer(given: string, before: [string, string][]): [string, string][] {
  const at = given.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write question=label.');
  return [...before, [given.slice(0, at), given.slice(at + 1)]];
}
