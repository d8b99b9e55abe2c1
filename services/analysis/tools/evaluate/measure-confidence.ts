import { type Answer, type Language, type PhraseDecision, phrasesOf } from '@call-analysis/events';
import { ruleAnalyst } from '../../analysts/rule-analyst.ts';
import { kindOf, type OutcomeKind } from '../../analysts/rules/confidence.ts';
import type { Scorecard } from '../../scorecards/scorecard.ts';
import { judge, type JudgedAnswer } from './judged-answers.ts';
import type { LabelledConversation, QuestionMap } from './labelled-conversations.ts';

/** A kind counts as if it had been seen this often more, in all languages together as right as wrong. */
const PRIOR = 4;

interface Count {
  right: number;
  n: number;
}

/**
 * The confidence of the rules on these conversations. Each counts half as it is, and half as if neither operator nor firm were known by
 * name: metadata may give a number, or write a name in another script.
 */
export async function measureConfidence(
  scorecard: Scorecard,
  questions: QuestionMap,
  conversations: readonly LabelledConversation[],
): Promise<Record<string, Record<string, number>>> {
  const unnamed = conversations.map((each) => ({ ...each, operator_name: null, company: null }));
  const { answers } = await judge({ analyst: ruleAnalyst }, scorecard, questions, [...conversations, ...unnamed]);
  return shareRight(answers, scorecard, questions, 1 / 2);
}

/**
 * By language and kind of answer, the share of answers that were right. With few answers of a kind in a language the share
 * is drawn towards that of all languages, and that towards one half. Each answer counts as `weight` of one.
 */
export function shareRight(
  answers: readonly JudgedAnswer[],
  scorecard: Scorecard,
  questions: QuestionMap,
  weight = 1,
): Record<string, Record<string, number>> {
  const decisions = new Map(
    scorecard.sections.flatMap((section) => section.questions.map(({ uuid, decided }) => [uuid, phrasesOf(decided)])),
  );
  /** A question of the scorecard is measured by the first labelled question that is mapped to it. */
  const measuredBy = new Map<string, string>();
  for (const [name, { question }] of Object.entries(questions)) {
    if (!measuredBy.has(question) && name !== question) measuredBy.set(question, name);
  }
  const languages = [...new Set(answers.map(({ language }) => language))].sort();
  const together = new Map<string, Count>();
  const byLanguage = new Map<Language, Map<string, Count>>(languages.map((language) => [language, new Map()]));
  for (const { answer, question, language, right, given } of answers) {
    if (answer === null || measuredBy.get(answer.uuid) !== question) continue;
    const decision = decisions.get(answer.uuid) ?? null;
    const kind = decision && kindOf(decision, outcomeOf(answer, decision));
    if (kind === null) continue;
    for (const counts of [together, byLanguage.get(language)!]) {
      const count = counts.get(kind) ?? { right: 0, n: 0 };
      counts.set(kind, count);
      count.n += weight;
      if (right === given) count.right += weight;
    }
  }
  return Object.fromEntries(
    languages.map((language) => [
      language,
      Object.fromEntries(
        [...together]
          .map(([kind, all]): [string, number] => {
            const own = byLanguage.get(language)?.get(kind) ?? { right: 0, n: 0 };
            return [kind, Math.round(drawn(own, drawn(all, 0.5)) * 100) / 100];
          })
          .sort(([one], [other]) => (one < other ? -1 : 1)),
      ),
    ]),
  );
}

function drawn({ right, n }: Count, towards: number): number {
  return (right + PRIOR * towards) / (n + PRIOR);
}

function outcomeOf({ answer, not_applicable, evidence_absent }: Answer, { cases }: PhraseDecision): OutcomeKind {
  if (not_applicable) return 'not_applicable';
  return evidence_absent ? 'otherwise' : cases.findIndex((each) => each.answer === answer);
}
