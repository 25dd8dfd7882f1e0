import * as z from 'zod'
import { field, named, sent } from './fields.ts'
import { Reference, Timezone } from './values.ts'

const schedules = ['immediately', 'daily'] as const
export const ChatSchedule = named(
  'ChatSchedule',
  'immediately for a message when something happens, daily for one digest a day',
  z.enum(schedules),
)

const maxCourses = 50

/** What an endpoint of kind `slack` or `teams` writes into its channel, and when. */
export const ChatSettings = sent(
  {
    schedule: field(
      ChatSchedule.default('immediately'),
      'When messages are sent: immediately when something happens, or daily as a digest',
      'Send messages immediately, or a daily digest',
    ),
    digestHour: field(
      z.int().min(0).max(23).default(8),
      'Hour of the digest, 0–23',
      'Hour of the digest, 0–23',
    ),
    digestTimezone: field(
      Timezone.default('UTC'),
      'IANA time zone of the hour, such as Europe/Vienna',
      'IANA time zone of the hour',
    ),
    courseIds: field(
      z.array(Reference).max(maxCourses).default([]),
      'Courses that messages are about: ids or ext:<externalId>; empty for everything; responses have ids',
      'Courses that messages are about (default everything)',
    ),
    atRiskOnly: field(
      z.boolean().default(false),
      'Whether a digest only tells which learners need attention',
      'Only learners who need attention, in a digest',
    ),
    learnerNames: field(
      z.boolean().default(false),
      'Whether messages have the names of learners; without, they have external ids or counts',
      'Write the names of learners, which the other system then stores',
    ),
  },
  (object) =>
    object.refine(({ schedule, atRiskOnly }) => schedule === 'daily' || !atRiskOnly, {
      path: ['atRiskOnly'],
      params: { code: 'requires_daily' },
      error: 'requires the schedule daily',
    }),
)
export type ChatSettings = z.output<typeof ChatSettings>
