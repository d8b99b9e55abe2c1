import { type Command, InvalidArgumentError } from 'commander';
import { CliError, exitCodes } from '../exit-codes.ts';
import { type Session, table } from '../session.ts';

/** As many as one request tries. */
const MOST_TRIED = 10;

export function addScorecardCommands(program: Command, session: Session): void {
  program
    .command('scorecards')
    .description('What calls are scored by.')
    .command('take-default')
    .description(
      "Make the default scorecard of this release the next revision of the firm's own. Calls that were scored keep their scores.",
    )
    .option('--try <calls>', `only try it, on so many of the newest calls (1 to ${MOST_TRIED}); nothing changes`, calls)
    .addHelpText('after', '\nExample:\n  $ call-analysis scorecards take-default --try 5')
    .action(async ({ try: tried }: { try?: number }) => {
      const client = await session.client();
      const offered = await client.send(client.api.GET('/api/v1/scorecards/default'));
      const { scorecard_uuid: uuid, revision, is_current, name, segment_type, sections } = offered;
      const params = { path: { uuid } };
      const draft = { name, segment_type, sections };
      if (tried === undefined) {
        if (is_current) return session.print(offered, `${uuid} has the questions of this release already.`);
        const header = { 'If-Match': `"${revision}"` };
        const request = client.api.PUT('/api/v1/scorecards/{uuid}', { params: { ...params, header }, body: draft });
        const taken = await client.send(request);
        return session.print(taken, `${uuid} is at revision ${taken.revision}.`);
      }
      const query = { outcome: ['scored' as const], size: tried };
      const { items } = await client.send(client.api.GET('/api/v1/calls', { params: { query } }));
      if (items.length === 0) throw new CliError(exitCodes.failed, 'No call has been scored yet.');
      const body = { call_uuids: items.map((call) => call.uuid), draft };
      const trial = await client.send(client.api.POST('/api/v1/scorecards/{uuid}/try', { params, body }));
      const rows = trial.items.map(({ call_uuid, operator_name, before, after, failure }) => [
        call_uuid,
        operator_name,
        before?.score,
        after?.score,
        after === null
          ? failure?.message
          : `${after.answers.filter((each) => each.answer !== null || each.not_applicable).length} of ${after.answers.length}`,
      ]);
      session.print(trial, table(['call', 'operator', 'score now', 'score then', 'answered then'], rows));
    });
}

function calls(given: string): number {
  const number = Number(given);
  if (Number.isInteger(number) && number >= 1 && number <= MOST_TRIED) return number;
  throw new InvalidArgumentError(`Write a whole number from 1 to ${MOST_TRIED}.`);
}
