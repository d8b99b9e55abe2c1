import { answerQuestion } from '../rules/answer-question.ts';
import { compileScorecard } from '../rules/compiled-scorecard.ts';
import { searchConversation } from '../rules/search-conversation.ts';
import { rankTopics } from '../rules/topics.ts';
import type { Scorecard } from '../scorecards/scorecard.ts';
import { computeTotals } from '../scorecards/totals.ts';
import type { AnalysisResult, Analyst, Conversation } from './analyst.ts';
import { measureConversation } from './conversation-metrics.ts';

/** With few phrases for sentiment, the score stays near 0. */
const SENTIMENT_DAMPING = 2;

/** Decides by phrases and rules. The same conversation always gets the same answers. */
export const ruleAnalyst: Analyst = {
  name: 'rules',
  version: '3',
  model: null,
  analyze: (conversation, scorecard) => Promise.resolve(analyzeByRules(conversation, scorecard)),
};

/** Pass the same object for the same scorecard: its phrases are compiled once for each object and language. */
export function analyzeByRules(conversation: Conversation, scorecard: Scorecard): AnalysisResult {
  const { language, utterances, duration } = conversation;
  const result = searchConversation(conversation, compileScorecard(scorecard, language));
  const sections = scorecard.sections.map((section) => ({
    name: section.name,
    questions: section.questions.map((question) => answerQuestion(question, result, language === null)),
  }));
  const totals = computeTotals(sections.map(({ questions }) => questions.map(({ scored }) => scored)));
  return {
    score: totals.score,
    auto_failed: totals.autoFailed,
    auto_fail_suspected: totals.autoFailSuspected,
    sections: sections.map(({ name, questions }, index) => ({
      name,
      score: totals.sections[index] ?? null,
      questions: questions.map(({ answer }) => answer),
    })),
    summary: result.summary.write(utterances),
    reason: null,
    resolution: null,
    topics: rankTopics(result.mentions),
    sentiment: {
      operator: sentimentScore(result.positive.operator, result.negative.operator),
      client: sentimentScore(result.positive.client, result.negative.client),
    },
    metrics: measureConversation(utterances, result.wordCounts, result.questionsAsked, duration),
    usage: null,
  };
}

/** From -1 to 1 with two decimals, computed from the numbers of positive and negative phrases. */
function sentimentScore(positive: number, negative: number): number {
  const score = Math.round(((positive - negative) / (positive + negative + SENTIMENT_DAMPING)) * 100) / 100;
  // Never -0, which becomes 0 when it is stored.
  return score === 0 ? 0 : score;
}
