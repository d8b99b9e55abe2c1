import { redeliveryWindowDays } from '@call-analysis/bus';
import { pruneProcessed } from '@call-analysis/call-processing';
import { CallErased, FirmRemoved, publishedBy } from '@call-analysis/events';
import { defineService } from '@call-analysis/service';
import { dialFirms, type FirmsClient } from '@call-analysis/service/firms';
import type { Analyst } from './analysts/analyst.ts';
import { openRuleAnalyst } from './analysts/rule-analyst.ts';
import type { Deps as AnalysisDeps } from './calls/analyze-calls.ts';
import type { Config } from './config.ts';
import { consumers } from './consumers.ts';
import { scorecardService } from './grpc.ts';
import type { LanguageModelConfig } from './language-model/config.ts';
import type { LanguageModel } from './language-model/language-model.ts';
import { ModelQueue } from './queue/model-queue.ts';
import { openActiveScorecards } from './scorecards/active-scorecards.ts';
import { openStore, type Store } from './store.ts';

export type { Config } from './config.ts';

interface Deps extends AnalysisDeps {
  readonly firms: FirmsClient;
  readonly modelQueue: ModelQueue | undefined;
  readonly model: AskedModel | undefined;
}

/** The language model, and the analyst that asks it. */
interface AskedModel {
  readonly config: LanguageModelConfig;
  readonly model: LanguageModel;
  readonly analyst: Analyst;
}

export const { schema, migrations, events, prepare, start } = defineService<Config, Deps, { analyst: Analyst }>({
  name: 'analysis',
  migrations: new URL('./prisma/migrations', import.meta.url),
  publishes: publishedBy('analysis'),
  consumers,
  firmData: ({ store, modelQueue }) => ({
    rows: store.firmRows,
    stop: (firmUuid) => modelQueue?.inProgress.abortFirm(firmUuid),
  }),
  async open({ config, log, db, bus, objects, closing }, { analyst = openRuleAnalyst(config.reviewBelow) }) {
    const firms = dialFirms(config.keyManagement, { tls: config.tls, log });
    closing.add('key-management client', () => firms.close());
    const store = openStore(db, { currency: config.languageModel?.prices?.currency });
    const activeScorecards = openActiveScorecards(store, firms);
    const shared = { store, bus, objects, activeScorecards, firms, speechPrice: config.speechPrice };
    const asked = await openModel(config, store);
    let modelQueue: ModelQueue | undefined;
    if (asked !== undefined) {
      const { config: modelConfig, model, analyst: modelAnalyst } = asked;
      const queue = new ModelQueue({ ...shared, log, ruleAnalyst: analyst, modelAnalyst, model, config: modelConfig });
      queue.start();
      closing.add('model queue', () => queue.close());
      modelQueue = queue;
    }
    return { ...shared, analyst, modelQueue, model: asked };
  },
  // The replica that is asking about the call stops; another consumes the erasure for certain.
  listeners: [
    { event: CallErased, receive: ({ modelQueue }, event) => modelQueue?.inProgress.abort(event) },
    { event: FirmRemoved, receive: ({ modelQueue }, { subject }) => modelQueue?.inProgress.abortFirm(subject) },
  ],
  rpcs: (
    { store, firms, bus, activeScorecards, analyst, model: asked, modelQueue: queue },
    { languageModel: model },
  ) => {
    const trial = {
      ruleAnalyst: analyst,
      ...(asked !== undefined && queue !== undefined && { model: { ...asked, analyze: queue.analyzeNow.bind(queue) } }),
    };
    return [scorecardService({ store, firms, bus, activeScorecards, model, trial })];
  },
  // Calls are scored without it where the settings of their firm are known; new scorecards, and other calls, have to wait.
  dependencies: ({ firms, modelQueue }) => [
    { name: 'key-management', vital: false, check: () => firms.ready() },
    ...(modelQueue === undefined ? [] : [{ name: 'language model', vital: false, check: () => modelQueue.ready() }]),
  ],
  schedules: ({ store }, { bus }) => [
    { name: 'sweep', everyMs: 3_600_000, run: () => pruneProcessed(store.db, redeliveryWindowDays(bus)) },
  ],
});

/** Undefined without a language model. Its libraries are loaded only where there is one. */
async function openModel({ languageModel, reviewBelow = 0.7 }: Config, store: Store): Promise<AskedModel | undefined> {
  if (languageModel === undefined || languageModel === null) return undefined;
  const [{ openLanguageModel }, { modelAnalyst }] = await Promise.all([
    import('./language-model/language-model.ts'),
    import('./analysts/model/model-analyst.ts'),
  ]);
  const { contextTokens, prices } = languageModel;
  const model = openLanguageModel(languageModel, store.requests);
  return { config: languageModel, model, analyst: modelAnalyst(model, { reviewBelow, contextTokens, prices }) };
}
