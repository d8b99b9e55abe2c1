import { unpackTranscript } from '@call-analysis/call-processing';
import {
  type Analysis,
  type BodyOf,
  CallAnalyzed,
  createEvent,
  type Event,
  isDoubtful,
  publishedAnalysis,
  type TranscriptReady,
  type Utterance,
} from '@call-analysis/events';
import type { Objects } from '@call-analysis/objects';
import type { FirmSettings } from '@call-analysis/service/firms';
import { v7 as uuidv7 } from 'uuid';
import type { Scorecard } from '../scorecards/scorecard.ts';
import type { AnalysisResult, Analyst, TakeSlot } from './analyst.ts';
import { recognizeLanguage } from './rules/recognize-language.ts';
import { seemSwapped, SWAPPED_NOTE } from './rules/swapped-channels.ts';

export type TranscriptReadyEvent = Event<BodyOf<typeof TranscriptReady>>;

export interface AnalyzedCall {
  readonly analyzed: Event<BodyOf<typeof CallAnalyzed>>;
  /** Null for a call without speech. */
  readonly analysis: Analysis | null;
}

/** Has an analyst analyze one call. Nothing is stored yet. */
export async function makeAnalysis(
  { objects, analyst }: { readonly objects: Objects; readonly analyst: Analyst },
  event: TranscriptReadyEvent,
  scorecard: Scorecard,
  firm: Pick<FirmSettings, 'language' | 'name'> & { readonly redactForModel: boolean },
  signal?: AbortSignal,
  takeSlot?: TakeSlot,
): Promise<AnalyzedCall> {
  const { data } = event;
  const utterances = await unpackTranscript(objects, data.transcript);
  const language = data.language ?? recognizeLanguage(utterances, data.tags);
  const createdAt = new Date();
  const uuid = uuidv7();
  let analysis: Analysis | null = null;
  let note: string | null = null;
  if (utterances.length > 0) {
    let result = await analyst.analyze(
      {
        language,
        firmLanguage: firm.language,
        redactForModel: firm.redactForModel,
        operatorName: data.operator_name,
        firmName: firm.name,
        direction: data.direction,
        startTime: data.start_time,
        tags: data.tags,
        segmentType: data.segment_type,
        duration: data.duration,
        utterances,
      },
      scorecard,
      signal,
      takeSlot,
    );
    const names = { operatorName: data.operator_name, firmName: firm.name };
    if (data.source === 'audio' && seemSwapped({ language, utterances, ...names })) {
      note = SWAPPED_NOTE[firm.language];
      result = forReview(result, () => true);
    }
    result = forReview(result, restsOnDoubtfulWords(utterances));
    analysis = {
      scorecard: { uuid: scorecard.uuid, name: scorecard.name, revision: scorecard.revision },
      analyst: { name: analyst.name, version: analyst.version, model: analyst.model },
      ...result,
      created_at: createdAt.toISOString(),
    };
  }
  const analyzed = createEvent('analysis', CallAnalyzed, event.subject, event, {
    attempt: data.attempt,
    analysis_uuid: uuid,
    outcome: analysis === null ? ('no_speech' as const) : ('scored' as const),
    language,
    analysis: analysis && publishedAnalysis(analysis),
    note,
  });
  return { analyzed, analysis };
}

type Answer = AnalysisResult['sections'][number]['questions'][number];

/** Whether the speech engine is unsure of the words that an answer quotes. */
function restsOnDoubtfulWords(utterances: readonly Utterance[]) {
  return ({ evidence }: Answer) => evidence.some(({ utterance }) => isDoubtful(utterances[utterance] ?? {}));
}

/** Marks answers for review. An open question has none. */
function forReview(result: AnalysisResult, isFor: (answer: Answer) => boolean): AnalysisResult {
  const isDoubted = (each: Answer) => (each.answer !== null || each.not_applicable) && isFor(each);
  const sections = result.sections.map((section) => ({
    ...section,
    questions: section.questions.map((question) =>
      isDoubted(question) ? { ...question, needs_review: true } : question,
    ),
  }));
  return { ...result, sections };
}
