import type { Admin, ITopicConfig } from 'kafkajs';
import { waitUntil } from '../../wait-until.ts';

/** Resolves when brokers know of it: kafkajs by itself takes one that has not heard of a new topic yet for a failure. */
export async function makeTopic(admin: Admin, topic: ITopicConfig): Promise<void> {
  await admin.createTopics({ topics: [topic], waitForLeaders: false });
  await waitUntil(async () => (await admin.listTopics()).includes(topic.topic));
}
