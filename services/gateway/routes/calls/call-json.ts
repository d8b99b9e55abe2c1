import type { CallDetail } from '@call-analysis/api/calls';
import { countAnswers, type ReviewedAnalysis, type ScorecardDraft } from '@call-analysis/events';
import type { GetCallRequestInit } from '@call-analysis/proto/ingest/v1/GetCallRequest';
import type { z } from 'zod';
import type { Caller } from '../../authentication/caller.ts';
import { readAnswer, type Services } from '../rpc-caller.ts';

/** A call as ingest shows it. */
export type StoredCall = Omit<z.output<typeof CallDetail>, 'analyses' | 'analysis'> & {
  readonly analyses: readonly ReviewedAnalysis[];
};

/** A call, also one that does not fit into a message, with its version. No call where the caller has this version. */
export async function readCall(catalogue: Services['ingest'], request: GetCallRequestInit) {
  const { version, is_large, json } = await catalogue.getCall(request);
  if (version !== undefined && version === request.known_version) return { version, call: null };
  if (is_large !== true) return { version, call: readAnswer<StoredCall>({ ...(json && { json }) }) };
  const pieces: Buffer[] = [];
  for await (const { data } of catalogue.readLargeCall(request)) pieces.push(data);
  return { version, call: readAnswer<StoredCall>({ json: Buffer.concat(pieces) }) };
}

/**
 * The current one among a call's analyses, which are newest first. Only a call with a current analysis says how many questions
 * it has: there is none once its channels are swapped, until it is analyzed again.
 */
export function currentOf<Each>({ questions }: Pick<StoredCall, 'questions'>, [newest]: readonly Each[]): Each | null {
  return questions === null ? null : (newest ?? null);
}

/** The call as the API shows it. */
export async function callDetail(
  { audio, ...call }: StoredCall,
  absolute: (url: string) => string,
  withChoices: (analyses: readonly ReviewedAnalysis[]) => ReturnType<AddChoices>,
) {
  const analyses = await withChoices(call.analyses);
  return {
    ...call,
    audio: audio && { ...audio, url: absolute(audio.url) },
    analysis: currentOf(call, analyses),
    analyses,
  };
}

/**
 * Adds to analyses how many of their questions are answered, and to each question the labels that a review may choose among; null
 * while these cannot be read.
 */
export type AddChoices = (caller: Caller, analyses: readonly ReviewedAnalysis[]) => Promise<WithChoices[]>;

interface WithChoices {
  readonly sections: readonly { readonly questions: readonly { readonly choices: readonly string[] | null }[] }[];
}

type Labels = ReadonlyMap<string, readonly string[]>;

/** Revisions whose labels are kept. */
const MOST_REVISIONS = 1_000;
/** A call is shown without them rather than late. */
const DEADLINE_MS = 2_000;

/**
 * The labels come from the revision of the scorecard that an analysis was made by, so that reviewers of every role have
 * them. A revision never changes, so what was read once is kept.
 */
export function answerChoices({ analysis }: Services): AddChoices {
  const known = new Map<string, Labels>();

  async function labelsOf(
    { firmUuid, userUuid }: Caller,
    { uuid, revision }: ReviewedAnalysis['scorecard'],
  ): Promise<Labels | null> {
    const key = `${firmUuid} ${uuid} ${revision}`;
    const kept = known.get(key);
    if (kept !== undefined) return kept;
    const request = { caller: { firm_uuid: firmUuid, user_uuid: userUuid }, scorecard_uuid: uuid, revision };
    const reply = await analysis.getScorecard(request, { deadlineMs: DEADLINE_MS }).catch(() => null);
    if (reply === null) return null;
    const sections = JSON.parse(reply.sections_json) as z.output<typeof ScorecardDraft>['sections'];
    const labels = new Map(
      sections.flatMap(({ questions }) =>
        questions.map((question) => [question.uuid ?? '', question.choices.map(({ label }) => label)] as const),
      ),
    );
    if (known.size >= MOST_REVISIONS) known.delete(known.keys().next().value!);
    known.set(key, labels);
    return labels;
  }

  return (caller, analyses) =>
    Promise.all(
      analyses.map(async (each) => {
        const labels = await labelsOf(caller, each.scorecard);
        const sections = each.sections.map((section) => ({
          ...section,
          questions: section.questions.map((question) => ({
            ...question,
            choices: labels?.get(question.uuid) ?? null,
          })),
        }));
        return { ...each, ...countAnswers(sections), sections };
      }),
    );
}
