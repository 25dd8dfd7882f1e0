import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { type Calendar, CalendarInput, calendars } from '../../contract/calendars.ts'
import { findCalendar } from '../calendars/calendars.ts'
import { isRole } from '../http/handler.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { confirmationPage, secretPage } from './form.tsx'
import { listPage } from './list.tsx'
import { withoutPageOf } from './list-parameters.tsx'
import { bodyIn, type RecordForm } from './record-form.tsx'
import { Day, recordLink, takeLink } from './values.tsx'

const [section, path] = ['/dashboard/integrations', '/dashboard/calendars'] as const

const calendarForm: RecordForm = {
  label: 'Create a calendar',
  button: 'Create calendar',
  body: CalendarInput,
  isOnce: true,
  fields: [
    {
      name: 'courseId',
      label: 'Course',
      hint: 'ID or external ID. Leave it empty for the calendar of a person',
    },
    { name: 'userId', label: 'Person', hint: 'E-mail address, ID or external ID' },
  ],
}

/** For admins. */
const list = listPage<Calendar>({
  path,
  section,
  title: 'Calendars',
  tab: 'Calendars',
  intro:
    'Calendar programs read the dates of a course, or of all courses of a person, at a secret address: the days of the term, and when lessons are due.',
  operation: calendars.list,
  query: ({ query }) => ({
    course_id: query.get('course') || undefined,
    user_id: query.get('user') || undefined,
  }),
  list: {
    id: 'calendars',
    title: 'Addresses',
    caption: 'Addresses of calendars, newest first',
    columns: [
      {
        name: 'Dates of',
        cell: ({ courseId, courseTitle, userId, userEmail }, signedIn) =>
          courseId === null
            ? recordLink(signedIn, 'learners', userId ?? '', lineOf(userEmail ?? userId ?? '', 254))
            : recordLink(signedIn, 'courses', courseId, lineOf(courseTitle ?? courseId, 255)),
      },
      { name: 'Kind', cell: ({ courseId }) => (courseId === null ? 'Person' : 'Course') },
      { name: 'Address', cell: ({ last4 }) => <code>{`/calendars/…${last4}.ics`}</code> },
      { name: 'Created', cell: ({ createdAt }) => <Day time={createdAt} /> },
      {
        name: 'Revoke',
        unseen: true,
        cell: ({ id, courseTitle, userEmail }, signedIn) =>
          takeLink(signedIn, `${path}/${id}/revoke`, 'Revoke', courseTitle ?? userEmail ?? ''),
      },
    ],
  },
  above: ({ base, query }) =>
    withoutPageOf(query).size === 0 ? null : (
      <p>
        <a href={base + path}>Show all calendars</a>
      </p>
    ),
  none: 'No calendars yet.',
  create: {
    title: 'Create a calendar',
    form: calendarForm,
    initial: ({ query }) => ({ courseId: query.get('course'), userId: query.get('user') }),
    again: 'calendar_made_before',
    submit: async (inside, form) => {
      const body = bodyIn(calendarForm, form)
      const { secretPath, courseTitle, userEmail } = await ask(inside, calendars.create, { body })
      return secretPage(
        inside,
        {
          title: 'Your new calendar',
          section,
          name: 'address',
          secret: inside.issuer + (secretPath ?? ''),
          next: path,
        },
        <p>
          It has the dates of <strong>{lineOf(courseTitle ?? userEmail ?? '', 255)}</strong>. Anyone who has
          the address can read them.
        </p>,
      )
    },
  },
})

export function calendarLink(
  signedIn: SignedInRequest,
  of: { readonly course: string } | { readonly user: string },
): Child {
  if (!isRole(signedIn, ...calendars.list.roles)) return null
  return (
    <p class="further">
      <a href={`${signedIn.base}${path}?${new URLSearchParams(of)}`}>Calendar addresses</a>
    </p>
  )
}

const revocation = confirmationPage({
  path: `${path}/:calendarId/revoke`,
  section,
  operation: calendars.revoke,
  find: ({ database, params }) => findCalendar(database, params['calendarId'] ?? ''),
  title: () => 'Revoke this calendar?',
  question: ({ courseTitle, userEmail, last4 }) => (
    <>
      <strong>{lineOf(courseTitle ?? userEmail ?? '', 255)}</strong> (<code>…{last4}</code>): programs that
      read this address find no calendar any more. This cannot be undone.
    </>
  ),
  button: 'Revoke calendar',
  cancel: () => path,
  next: path,
  done: 'calendar_revoked',
})

export const calendarPages = [...list, revocation]
