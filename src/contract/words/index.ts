import * as analytics from './analytics.ts'
import { auditEntryWords } from './audit.ts'
import * as deliveries from './deliveries.ts'
import * as record from './record.ts'

function page(of: string): record.Words {
  return { ...record.pageWords, '': `One page of ${of}` }
}

/** The words of each component of the OpenAPI document, by its name. */
export const words: Readonly<Record<string, record.Words>> = {
  DeliveryStatus: { '': 'What became of a webhook delivery' },

  LearnerRow: analytics.learnerRowWords,
  LearnerPage: analytics.learnerPageWords,
  Summary: analytics.summaryWords,
  Period: analytics.periodWords,

  Delivery: deliveries.deliveryWords,
  DeliveryDetails: deliveries.deliveryDetailsWords,
  DeliveryPage: page('webhook deliveries'),
  ReplayInput: deliveries.replayInputWords,
  Replayed: deliveries.replayedWords,

  AuditEntry: auditEntryWords,
  AuditEntryPage: page('the audit log'),

  Problem: record.problemWords,
  Health: record.healthWords,
  OpenApiDocument: { '': 'An OpenAPI 3.1 document' },
}
