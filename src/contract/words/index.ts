import * as access from './access.ts'
import * as analytics from './analytics.ts'
import { auditEntryWords } from './audit.ts'
import * as deliveries from './deliveries.ts'
import * as grades from './grades.ts'
import * as integrations from './integrations.ts'
import * as progress from './progress.ts'
import * as record from './record.ts'
import * as webhooks from './webhooks.ts'

function page(of: string): record.Words {
  return { ...record.pageWords, '': `One page of ${of}` }
}

/** The words of each component of the OpenAPI document, by its name. */
export const words: Readonly<Record<string, record.Words>> = {
  EndpointStatus: { '': 'Whether events are sent to an endpoint' },
  DeliveryStatus: { '': 'What became of a webhook delivery' },
  MessageStatus: { '': 'Whether a message was delivered, is still to be sent, or was given up' },
  ProgressStatus: { '': 'Derived from the completion percentage when progress is recorded' },

  Progress: progress.progressWords,
  ProgressInput: progress.progressInputWords,
  ProgressItem: progress.progressItemWords,
  ProgressPage: page('progress records'),
  ProgressStep: progress.progressStepWords,
  ProgressStepPage: page('the progress history of a learner in a course'),

  Grade: grades.gradeWords,
  GradeInput: grades.gradeInputWords,
  RecordedGrade: grades.recordedGradeWords,
  GradePage: page('grades'),
  GradeStep: grades.gradeStepWords,
  GradeStepPage: page('the history of a grade'),

  LearnerRow: analytics.learnerRowWords,
  LearnerPage: analytics.learnerPageWords,
  Summary: analytics.summaryWords,
  Period: analytics.periodWords,

  Key: access.keyWords,
  KeyInput: access.keyInputWords,
  NewKey: access.newKeyWords,
  KeyPage: page('API keys'),
  Lease: access.leaseWords,
  LeaseInput: access.leaseInputWords,
  App: access.appWords,
  AppInput: access.appInputWords,
  NewApp: access.newAppWords,
  AppPage: page('OAuth applications'),
  Grant: access.grantWords,
  GrantPage: page('grants'),

  Endpoint: webhooks.endpointWords,
  EndpointInput: webhooks.endpointInputWords,
  EndpointPatch: webhooks.endpointPatchWords,
  NewEndpoint: webhooks.newEndpointWords,
  EndpointPage: page('webhook endpoints'),
  Message: webhooks.messageWords,
  MessageDetails: webhooks.messageDetailsWords,
  MessagePage: page('webhook messages'),
  Delivery: deliveries.deliveryWords,
  DeliveryDetails: deliveries.deliveryDetailsWords,
  DeliveryPage: page('webhook deliveries'),
  ReplayInput: deliveries.replayInputWords,
  Replayed: deliveries.replayedWords,
  LmsKind: { '': 'Kind of the other learning management system' },
  GradeToProgress: {
    '': 'What a grade does to progress: nothing, 100% once the course is passed, or the grade is the percentage',
  },
  MappedNoun: { '': 'What is mapped: a course or a user' },
  Integration: integrations.integrationWords,
  IntegrationPatch: integrations.integrationPatchWords,
  IntegrationPage: page('integrations'),
  IntegrationCheck: integrations.integrationCheckWords,
  Mapping: integrations.mappingWords,
  MappingInput: integrations.mappingInputWords,
  MappingPage: page('mappings'),

  AuditEntry: auditEntryWords,
  AuditEntryPage: page('the audit log'),

  Problem: record.problemWords,
  Health: record.healthWords,
  OpenApiDocument: { '': 'An OpenAPI 3.1 document' },
}
