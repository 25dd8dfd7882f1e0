import { lineOf } from '../../codec/display-text.ts'
import { type Calendar, calendars, type NewCalendar } from '../../contract/calendars.ts'
import { findCalendar } from '../calendars/calendars.ts'
import { isRole, requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { issuerOf } from '../http/web-route.ts'
import { seeOther } from '../pages/page.tsx'
import { ask, type SignedInRequest, write } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { askToConfirm, Faults, Field, type FilledIn, Form, OnceField, submitOnce } from './form.tsx'
import { addressOf, framePage } from './frame.tsx'
import { listedOrFault, listPage } from './list.tsx'
import { type PageQuery, pageQueryOf, withoutPageOf } from './paging.tsx'
import type { TableFile } from './table-file.tsx'
import { Day } from './values.tsx'

const [section, path] = ['/dashboard/integrations', '/dashboard/calendars'] as const

/** Without the addresses. */
export const calendarsFile: TableFile = { path: path, operation: calendars.list, read: readCalendars }

/** For admins. */
export const calendarsPage = listPage<Calendar>({
  path,
  section,
  title: 'Calendars',
  tab: 'Calendars',
  intro:
    'Calendar programs read the dates of a course, or of all courses of a person, at a secret address: the days of the term, and when lessons are due.',
  list: {
    id: 'calendars',
    title: 'Addresses',
    caption: 'Addresses of calendars, newest first',
    columns: [
      {
        name: 'Dates of',
        cell: ({ courseId, courseTitle, userId, userEmail }, { base }) =>
          courseId === null ? (
            <a href={`${base}/dashboard/learners/${encodeURIComponent(userId ?? '')}`}>
              {lineOf(userEmail ?? userId ?? '', 254)}
            </a>
          ) : (
            <a href={`${base}/dashboard/courses/${encodeURIComponent(courseId)}`}>
              {lineOf(courseTitle ?? courseId, 255)}
            </a>
          ),
      },
      { name: 'Kind', cell: ({ courseId }) => (courseId === null ? 'Person' : 'Course') },
      { name: 'Address', cell: ({ last4 }) => <code>{`/calendars/…${last4}.ics`}</code> },
      { name: 'Created', cell: ({ createdAt }) => <Day time={createdAt} /> },
      {
        name: 'Revoke',
        unseen: true,
        cell: ({ id, courseTitle, userEmail }, { base }) => (
          <a class="take" href={`${base}${path}/${encodeURIComponent(id)}/revoke`}>
            Revoke<span class="unseen"> {courseTitle ?? userEmail}</span>
          </a>
        ),
      },
    ],
  },
  read: (signedIn) => listedOrFault(() => readCalendars(signedIn, pageQueryOf(signedIn))),
  file: calendarsFile,
  filters: ({ base, query }, { fault }) => (
    <>
      {fault ? (
        <p class="fault" role="alert">
          {fault.message}
        </p>
      ) : null}
      {withoutPageOf(query).size === 0 ? null : (
        <p>
          <a href={base + path}>Show all calendars</a>
        </p>
      )}
    </>
  ),
  none: () => <p>No calendars yet.</p>,
  form: { title: 'Create a calendar', Fields: CalendarForm },

  act: (signedIn, form) =>
    submitOnce(signedIn, form, addressOf(signedIn, path, 'calendar_made_before'), async (inside) =>
      newCalendarPage(inside, await ask(inside, calendars.create, { body: calendarInputOf(form) })),
    ),
})

function readCalendars(signedIn: SignedInRequest, page: PageQuery) {
  return ask(signedIn, calendars.list, {
    query: {
      ...page,
      course_id: signedIn.query.get('course') || undefined,
      user_id: signedIn.query.get('user') || undefined,
    },
  })
}

/** Of a course or a person, for roles that can read them. */
export function CalendarLink({
  signedIn,
  of,
}: {
  signedIn: SignedInRequest
  of: { readonly course: string } | { readonly user: string }
}) {
  if (!isRole(signedIn, ...calendars.list.roles)) return null
  return (
    <p class="further">
      <a href={`${signedIn.base}${path}?${new URLSearchParams(of)}`}>Calendar addresses</a>
    </p>
  )
}

const labels = { courseId: 'Course', userId: 'Person' }

function CalendarForm({ signedIn, form, fault }: FilledIn) {
  const value = (name: keyof typeof labels, parameter: string) =>
    form.get(name) ?? signedIn.query.get(parameter) ?? ''
  return (
    <Form signedIn={signedIn} label="Create a calendar">
      <Faults fault={fault} labels={labels} />
      <OnceField signedIn={signedIn} />
      <Field
        name="courseId"
        label={labels.courseId}
        hint="ID or external ID. Leave it empty for the calendar of a person"
        fault={fault}
        value={value('courseId', 'course')}
        maxlength={300}
        autocomplete="off"
      />
      <Field
        name="userId"
        label={labels.userId}
        hint="E-mail address, ID or external ID"
        fault={fault}
        value={value('userId', 'user')}
        maxlength={300}
        autocomplete="off"
      />
      <div class="actions">
        <button type="submit">Create calendar</button>
      </div>
    </Form>
  )
}

function calendarInputOf(form: URLSearchParams) {
  const given = (name: string) => (form.get(name) ?? '').trim() || null
  return { courseId: given('courseId'), userId: given('userId') }
}

/** The only page that shows the address. */
function newCalendarPage(
  signedIn: SignedInRequest,
  { secretPath, courseTitle, userEmail }: NewCalendar,
): Reply {
  const { academy, request } = signedIn
  return framePage(
    signedIn,
    { title: 'Your new calendar', section },
    <div class="card short">
      <h1>Your new calendar</h1>
      <p role="status">Copy the address now. It will not be shown again.</p>
      <code class="code secret">{issuerOf(academy, request) + (secretPath ?? '')}</code>
      <p>
        It has the dates of <strong>{lineOf(courseTitle ?? userEmail ?? '', 255)}</strong>. Anyone who has the
        address can read them.
      </p>
      <p class="actions">
        <a class="button" href={addressOf(signedIn, path)}>
          Done
        </a>
      </p>
    </div>,
  )
}

export const calendarRevocation: DashboardPage = {
  path: '/dashboard/calendars/:calendarId/revoke',

  async show(signedIn) {
    requireRight(signedIn.principal, calendars.revoke)
    const { database, params } = signedIn
    const { courseTitle, userEmail, last4 } = await findCalendar(database, params['calendarId'] ?? '')
    return askToConfirm(
      signedIn,
      { title: 'Revoke this calendar?', section, button: 'Revoke calendar', cancel: path },
      <p>
        <strong>{lineOf(courseTitle ?? userEmail ?? '', 255)}</strong> (<code>…{last4}</code>): programs that
        read this address find no calendar any more. This cannot be undone.
      </p>,
    )
  },

  async act(signedIn) {
    await write(signedIn, calendars.revoke)
    return seeOther(addressOf(signedIn, path, 'calendar_revoked'))
  },
}
