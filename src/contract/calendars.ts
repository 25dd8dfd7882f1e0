import * as z from 'zod'
import { answered, field, named, sent, shown } from './fields.ts'
import { listOf, ofCourse, ofUser, paging, period } from './lists.ts'
import { operationsOf } from './operation.ts'
import { textOrNull } from './record-fields.ts'
import { optional, Reference, Time } from './values.ts'

const attributes = {
  courseId: field(
    optional(Reference),
    'Course whose dates it has: id or ext:<externalId>; null for the calendar of a user',
    'Course whose dates it has: id or external id',
  ),
  userId: field(
    optional(Reference),
    'User whose courses it has: id, ext:<externalId> or email:<address>; null for the calendar of a course',
    'User whose courses it has: id, external id or e-mail address',
  ),
}

export const CalendarInput = named(
  'CalendarInput',
  'The attributes of a new calendar: a course or a user',
  sent(attributes, (object) =>
    object.refine(({ courseId, userId }) => (courseId === null) !== (userId === null), {
      path: ['courseId'],
      params: { code: 'required' },
      error: 'or a user is required, but not both',
    }),
  ),
)
export type CalendarInput = z.output<typeof CalendarInput>

function shownFields() {
  const { courseId, userId } = answered(attributes)
  return {
    id: field(z.string(), 'Id of the calendar, cal_…'),
    courseId: { ...courseId, says: 'Course whose dates it has; null for the calendar of a user' },
    courseTitle: textOrNull('Title of the course as it is now; null without a course'),
    userId: { ...userId, says: 'User whose courses it has; null for the calendar of a course' },
    userEmail: textOrNull('E-mail address of the user as it is now; null without a user'),
    last4: field(z.string(), 'Last characters of its secret'),
    createdAt: field(Time, 'When it was created'),
  }
}

export const Calendar = named('Calendar', 'A calendar, without its address', shown(shownFields))
export type Calendar = z.output<typeof Calendar>

/** The only response with the address. */
export const NewCalendar = named(
  'NewCalendar',
  'A new calendar, with its address',
  shown(() => ({
    ...shownFields(),
    secretPath: field(
      z.string().max(64).nullable(),
      'Address of the calendar at this server, /calendars/….ics, for programs that read iCalendar. Anyone who has it can read the calendar. Shown only once: null in a replayed response',
    ),
  })),
)
export type NewCalendar = z.output<typeof NewCalendar>

export const calendars = operationsOf('calendars', {
  list: {
    at: 'GET /v1/calendars',
    summary: 'List calendars',
    scope: 'admin',
    query: z.strictObject({
      course_id: ofCourse,
      user_id: ofUser,
      ...period('Created', 'createdAt'),
      ...paging,
    }),
    ...listOf(Calendar, 'calendars'),
  },
  create: {
    at: 'POST /v1/calendars',
    summary: 'Create a calendar',
    scope: 'admin',
    body: CalendarInput,
    response: NewCalendar,
    secret: 'secretPath',
  },
  revoke: {
    at: 'DELETE /v1/calendars/{calendarId}',
    summary: 'Revoke a calendar',
    scope: 'admin',
    response: null,
  },
})
