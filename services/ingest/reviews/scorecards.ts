import type { ReviewedAnalysis, ScorecardDraft } from '@call-analysis/events';
import { Fault, invalidFields } from '@call-analysis/fault';
import { analysis } from '@call-analysis/proto';
import type { AddUpReply } from '@call-analysis/proto/analysis/v1/AddUpReply';
import { dial, type DialOptions } from '@call-analysis/rpc';
import type { Owner } from '../intake/upload-store.ts';

/** A person's answer to a question. */
export interface PersonAnswer {
  readonly question_uuid: string;
  /** The label; null when the question does not apply. */
  readonly answer: string | null;
  readonly comment: string | null;
}

/** A client of analysis, which owns the scorecards and adds up their points. */
export function dialScorecards(address: string, options: Pick<DialOptions, 'tls' | 'log'> = {}) {
  const client = dial(analysis, address, { ...options, name: 'analysis', deadlineMs: 5_000 });
  return {
    /** Fault VALIDATION_ERROR for a question or a label that the scorecard of the analysis does not have. */
    async addUp(
      { firmUuid, userUuid }: Owner,
      { scorecard, sections, auto_failed }: ReviewedAnalysis,
      answers: readonly PersonAnswer[],
    ): Promise<AddUpReply> {
      return client.addUp({
        caller: { firm_uuid: firmUuid, user_uuid: userUuid },
        scorecard_uuid: scorecard.uuid,
        revision: scorecard.revision,
        machine: sections
          .flatMap(({ questions }) => questions)
          .map(({ uuid, answer, decided_by, needs_review, evidence_absent }) => ({
            ...given(uuid, answer, decided_by),
            is_verified: !needs_review && !evidence_absent,
          })),
        person: answers.map(({ question_uuid, answer }) => given(question_uuid, answer, 'person')),
        machine_auto_failed: auto_failed,
      });
    },
    /** The questions of a scorecard's newest revision. Fault NOT_FOUND. */
    async questions({ firmUuid, userUuid }: Owner, scorecard_uuid: string) {
      const caller = { firm_uuid: firmUuid, user_uuid: userUuid };
      const { sections_json } = await client.getScorecard({ caller, scorecard_uuid });
      const sections = JSON.parse(sections_json) as ScorecardDraft['sections'];
      return sections.flatMap(({ questions }) => questions.map(({ uuid, text }) => ({ uuid: uuid!, text })));
    },
    /** Fault VALIDATION_ERROR for a scorecard that is not the firm's, or not active. */
    async requireActive({ firmUuid, userUuid }: Owner, uuid: string): Promise<void> {
      const caller = { firm_uuid: firmUuid, user_uuid: userUuid };
      const found = await client.getScorecard({ caller, scorecard_uuid: uuid }).catch((error: unknown) => {
        if (error instanceof Fault && error.code === 'NOT_FOUND') return null;
        throw error;
      });
      if (found === null) throw wrongScorecard('is not a scorecard of this firm');
      if (found.scorecard?.is_active !== true) throw wrongScorecard('is not active; activate it first');
    },
    ready: () => client.ready(),
    close: () => client.close(),
  };
}

function wrongScorecard(message: string): Fault {
  return invalidFields([{ field: 'scorecard_uuid', code: 'INVALID', message }]);
}

function given(question_uuid: string, answer: string | null, decided_by: string) {
  return { question_uuid, ...(answer !== null && { answer }), decided_by };
}

/** The parts that use cases need. */
export type Scorecards = Pick<ReturnType<typeof dialScorecards>, 'addUp'>;
export type ActiveScorecards = Pick<ReturnType<typeof dialScorecards>, 'requireActive'>;
