/** What a call can be about, in the order that breaks ties. Slugs are stable: clients filter by them. */
export const TOPICS = [
  'refund',
  'cancellation',
  'complaint',
  'delivery',
  'order',
  'billing',
  'payment',
  'loan',
  'card',
  'account',
  'transfer',
  'insurance',
  'fraud',
  'internet',
  'mobile',
  'technical',
  'appointment',
  'price',
  'product',
  'documents',
  'travel',
  'employment',
] as const;
export type Topic = (typeof TOPICS)[number];

const MOST_TOPICS = 5;

/**
 * At most five topics, the most spoken of first. `mentions` counts by position in TOPICS. A topic mentioned once
 * stands only while nothing is spoken of three times as much.
 */
export function rankTopics(mentions: ArrayLike<number>): Topic[] {
  const counted = TOPICS.map((topic, index) => ({ topic, count: mentions[index] ?? 0 }));
  const most = Math.max(...counted.map(({ count }) => count));
  return counted
    .filter(({ count }) => count > 0 && count * 4 > most)
    .sort((one, other) => other.count - one.count)
    .slice(0, MOST_TOPICS)
    .map(({ topic }) => topic);
}
