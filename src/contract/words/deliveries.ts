import type { Words } from './record.ts'

export const deliveryWords = {
  '': 'A webhook delivery of another system, and what became of it',
  id: 'Id of the delivery, whd_…',
  lmsKind: 'Kind of the system that sent it',
  event: 'What that system calls the event, such as grade_change; empty where that cannot be read',
  status:
    'applied; stale: something newer was there; ignored: nothing to do; unmatched: nobody or nothing here answers to it; failed: it cannot be done',
  reason: 'Why it was not applied, in one word; null where it was',
  detail: 'The same as a sentence; null where there is no more to say',
  missing: 'What is missing for an unmatched delivery: course, learner or enrollment',
  learnerId: 'Id of the learner; null where nobody here answers to it',
  userEmail: 'E-mail address of the learner as it is now',
  courseId: 'Id of the course; null where none here answers to it',
  courseTitle: 'Title of the course as it is now',
  itemId: 'The graded item; null for progress',
  gradeId: 'Id of the grade that it set; null for any other',
  deliveryKey: 'What tells it from all other deliveries of its kind: sent again, it is a duplicate',
  replays: 'How often it was processed again',
  receivedAt: 'When it was received',
  processedAt: 'When it was last processed',
} satisfies Words

export const deliveryDetailsWords = {
  ...deliveryWords,
  '': 'A webhook delivery with its payload',
  body: 'The payload as JSON, without secrets; null where it is no longer kept',
} satisfies Words

export const replayInputWords = {
  '': 'Which unmatched deliveries are processed again',
  lmsKind: 'Kind of the system that sent them; null for all',
  limit: 'The most that are processed',
  cursor: 'The nextCursor of the response before; null to begin with the first received',
} satisfies Words

export const replayedWords = {
  '': 'The deliveries that were processed again, and what became of each',
  data: 'The deliveries, system by system, the first received first',
  nextCursor: 'Where the next request continues; null where there are no more',
} satisfies Words
