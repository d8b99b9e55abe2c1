import type { Bus } from '@call-analysis/bus';
import { type Analysis, Language, Utterance, Uuid } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Actor } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { AnalysisResult, Analyst, Conversation } from '../analysts/analyst.ts';
import { recognizeLanguage } from '../analysts/rules/recognize-language.ts';
import { type LanguageModelConfig, redacts } from '../language-model/config.ts';
import { ModelFailure } from '../language-model/outcome.ts';
import { NO_TOKENS, tokensOf } from '../language-model/prices.ts';
import { recordUsage } from '../money/record-usage.ts';
import { revisableUuids } from '../scorecards/default-scorecard.ts';
import { type Scorecard, toScorecardBody } from '../scorecards/scorecard.ts';
import { validateScorecardDraft } from '../scorecards/validate-scorecard-draft.ts';
import type { Store } from '../store.ts';

export interface TrialDeps {
  readonly store: Store;
  readonly firms: Pick<Firms, 'settings'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly ruleAnalyst: Analyst;
  /** Absent without a language model. */
  readonly model?:
    | {
        readonly analyst: Analyst;
        readonly config: LanguageModelConfig;
        /** Has the analyst answer within the limits of the language model. Rejects with ModelFailure. */
        analyze(conversation: Conversation, scorecard: Scorecard, signal: AbortSignal): Promise<AnalysisResult>;
      }
    | undefined;
}

/** The call that a scorecard is tried on, as the API has it. */
export const TriedCall = z.object({
  call_uuid: Uuid,
  segment_type: z.string(),
  operator_name: z.string(),
  duration: z.number().nullable(),
  language: Language.nullable().catch(null),
  utterances: z.array(Utterance),
});

/**
 * Analyzes a call by a scorecard's newest revision, or by a changed document of it, and stores nothing but what the language
 * model cost. Faults: NOT_FOUND, VALIDATION_ERROR; ANALYST_UNAVAILABLE and others of the language model.
 */
export async function tryScorecard(
  deps: TrialDeps,
  { firmUuid }: Actor,
  scorecardUuid: string,
  document: string | null,
  call: z.output<typeof TriedCall>,
  signal: AbortSignal,
): Promise<Analysis> {
  const { store, firms, bus, model, ruleAnalyst } = deps;
  const { segment_type: segmentType, ...stored } = await store.scorecards.find(firmUuid, scorecardUuid);
  const references = { segmentTypes: null, segmentType, questionUuids: revisableUuids(stored) };
  const body = document === null ? stored : toScorecardBody(validateScorecardDraft(document, references), uuidv7);
  const scorecard: Scorecard = { ...body, uuid: scorecardUuid, revision: stored.revision };
  const settings = await firms.settings(firmUuid);
  // Without budget the rules and the fallbacks answer: a trial does not wait for the next month.
  const asked = model === undefined || (await store.requests.isSpent(firmUuid)) ? undefined : model;
  const analyst = asked?.analyst ?? ruleAnalyst;
  const conversation: Conversation = {
    language: call.language ?? recognizeLanguage(call.utterances, []),
    firmLanguage: settings.language,
    redactForModel: model !== undefined && (settings.redaction !== 'none' || redacts(model.config)),
    operatorName: call.operator_name === '' ? null : call.operator_name,
    firmName: settings.name,
    tags: [],
    segmentType: call.segment_type,
    duration: call.duration,
    utterances: call.utterances,
  };
  let used = NO_TOKENS;
  try {
    const result = await (asked === undefined
      ? analyst.analyze(conversation, scorecard, signal)
      : asked.analyze(conversation, scorecard, signal));
    used = tokensOf(result.usage);
    return {
      scorecard: { uuid: scorecardUuid, name: scorecard.name, revision: stored.revision },
      analyst: { name: analyst.name, version: analyst.version, model: analyst.model },
      ...result,
      created_at: new Date().toISOString(),
    };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    used = error.tokens;
    const isAway = error.kind === 'away' || error.kind === 'misconfigured';
    throw new Fault('conflict', isAway ? 'ANALYST_UNAVAILABLE' : 'ANALYST_REFUSED', error.message, { cause: error });
  } finally {
    if (used.requests > 0 && model !== undefined) {
      const { call_uuid: callUuid, segment_type: ofCall } = call;
      const usage = { origin: { firmuuid: firmUuid }, callUuid, segmentType: ofCall, audioSeconds: 0, tokens: used };
      await store.db.transaction((tx) => recordUsage({ store, bus, config: model.config }, tx, usage));
    }
  }
}
