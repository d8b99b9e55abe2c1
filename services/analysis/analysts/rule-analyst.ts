import type { Scorecard } from '../scorecards/scorecard.ts';
import { withScores } from '../scorecards/totals.ts';
import type { AnalysisResult, Analyst, Conversation } from './analyst.ts';
import { measureConversation } from './conversation-metrics.ts';
import { answerQuestion } from './rules/answer-question.ts';
import { compileScorecard } from './rules/compiled-scorecard.ts';
import { namesOf } from './rules/own-names.ts';
import { searchConversation } from './rules/search-conversation.ts';
import { SENTENCES } from './rules/sentences.ts';
import { rankTopics } from './rules/topics.ts';

/** Answers that are less sure than this are for review, unless it is configured otherwise. */
const REVIEW_BELOW = 0.7;

/** Decides by phrases and rules. The same conversation always gets the same answers. */
export function openRuleAnalyst(reviewBelow = REVIEW_BELOW): Analyst {
  return {
    name: 'rules',
    version: '7',
    model: null,
    analyze: (conversation, scorecard) => Promise.resolve(analyzeByRules(conversation, scorecard, reviewBelow)),
  };
}

export const ruleAnalyst = openRuleAnalyst();

/** Pass the same object for the same scorecard: its phrases are compiled once for each object and language. */
export function analyzeByRules(
  conversation: Conversation,
  scorecard: Scorecard,
  reviewBelow = REVIEW_BELOW,
): AnalysisResult {
  const { language, firmLanguage, utterances, duration } = conversation;
  const options = { language, firmLanguage, reviewBelow };
  const names = namesOf(conversation);
  const result = searchConversation(conversation, compileScorecard(scorecard, language), names);
  const answers = scorecard.sections.map((section) =>
    section.questions.map((question) => answerQuestion(question, result, options)),
  );
  return {
    ...withScores(scorecard, answers),
    summary: result.summary.write(utterances, SENTENCES[firmLanguage].speaker),
    reason: null,
    resolution: null,
    topics: rankTopics(result.mentions),
    // Counting good and bad words was not better than always saying that the client is dissatisfied.
    sentiment: null,
    manipulation: null,
    metrics: measureConversation(utterances, result.wordCounts, result.questionsAsked, duration),
    usage: null,
  };
}
