import { expect } from 'vitest'
import {
  complete,
  fillPath,
  pathsOf,
  readChangeable,
  roles,
  sendForm,
  startOtherSession,
  test,
  thingsOf,
} from './signed-in.ts'

type Answers = Readonly<Record<'own' | 'foreign', readonly number[]>>

/** Statuses of each page for admin, instructor, analyst and learner, for their own records and another user's. */
const pages: Readonly<Record<string, Answers>> = {
  '/dashboard': both(200, 200, 200, 200),
  '/dashboard/courses': both(200, 200, 200, 200),
  '/dashboard/courses.csv': both(200, 200, 200, 200),
  '/dashboard/courses.xlsx': both(200, 200, 200, 200),
  '/dashboard/courses/:courseId': { own: [200, 200, 200, 200], foreign: [200, 404, 200, 200] },
  '/dashboard/courses/:courseId/learners.csv': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/courses/:courseId/learners.xlsx': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/courses/:courseId/lessons': { own: [200, 200, 200, 200], foreign: [200, 404, 200, 200] },
  '/dashboard/courses/:courseId/lessons.csv': { own: [200, 200, 200, 200], foreign: [200, 404, 200, 200] },
  '/dashboard/courses/:courseId/lessons.xlsx': { own: [200, 200, 200, 200], foreign: [200, 404, 200, 200] },
  '/dashboard/courses/:courseId/grades': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/courses/:courseId/grades.csv': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/courses/:courseId/grades.xlsx': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/people': both(200, 200, 200, 403),
  '/dashboard/people.csv': both(200, 200, 200, 403),
  '/dashboard/people.xlsx': both(200, 200, 200, 403),
  '/dashboard/report': both(200, 200, 200, 403),
  '/dashboard/report.html': both(200, 200, 200, 403),
  '/dashboard/learners/:userId': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/learners/:userId/courses.csv': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/learners/:userId/courses.xlsx': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/learners/:userId/grades': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/learners/:userId/grades.csv': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/learners/:userId/grades.xlsx': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/learners/:userId/history': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/learners/:userId/history.csv': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/learners/:userId/history.xlsx': { own: [200, 200, 200, 403], foreign: [200, 404, 200, 403] },
  '/dashboard/grades/:gradeId': { own: [200, 200, 200, 200], foreign: [200, 404, 200, 404] },
  '/dashboard/activity': both(200, 200, 200, 403),
  '/dashboard/activity.csv': both(200, 200, 200, 403),
  '/dashboard/activity.xlsx': both(200, 200, 200, 403),
  '/dashboard/keys': both(200, 200, 200, 200),
  '/dashboard/keys.csv': both(200, 200, 200, 200),
  '/dashboard/keys.xlsx': both(200, 200, 200, 200),
  '/dashboard/keys/:keyId/revoke': { own: [200, 200, 200, 200], foreign: [404, 404, 404, 404] },
  '/dashboard/apps': both(200, 403, 403, 403),
  '/dashboard/apps/:clientId/delete': both(200, 403, 403, 403),
  '/dashboard/integrations': both(200, 403, 403, 403),
  '/dashboard/integrations.csv': both(200, 403, 403, 403),
  '/dashboard/integrations.xlsx': both(200, 403, 403, 403),
  '/dashboard/integrations/:lmsKind': both(200, 403, 403, 403),
  '/dashboard/integrations/:lmsKind/remove': both(200, 403, 403, 403),
  '/dashboard/deliveries': both(200, 403, 403, 403),
  '/dashboard/deliveries.csv': both(200, 403, 403, 403),
  '/dashboard/deliveries.xlsx': both(200, 403, 403, 403),
  '/dashboard/deliveries/:deliveryId': both(200, 403, 403, 403),
  '/dashboard/endpoints': both(200, 403, 403, 403),
  '/dashboard/endpoints.csv': both(200, 403, 403, 403),
  '/dashboard/endpoints.xlsx': both(200, 403, 403, 403),
  '/dashboard/endpoints/:endpointId': both(200, 403, 403, 403),
  '/dashboard/endpoints/:endpointId/rotate': both(200, 403, 403, 403),
  '/dashboard/endpoints/:endpointId/delete': both(200, 403, 403, 403),
  '/dashboard/messages': both(200, 403, 403, 403),
  '/dashboard/messages.csv': both(200, 403, 403, 403),
  '/dashboard/messages.xlsx': both(200, 403, 403, 403),
  '/dashboard/messages/:messageId': both(200, 403, 403, 403),
  '/dashboard/calendars': both(200, 403, 403, 403),
  '/dashboard/calendars.csv': both(200, 403, 403, 403),
  '/dashboard/calendars.xlsx': both(200, 403, 403, 403),
  '/dashboard/calendars/:calendarId/revoke': both(200, 403, 403, 403),
  '/dashboard/changes': both(200, 200, 403, 403),
  '/dashboard/changes.csv': both(200, 200, 403, 403),
  '/dashboard/changes.xlsx': both(200, 200, 403, 403),
  '/dashboard/changes/:changeId': { own: [200, 200, 403, 403], foreign: [200, 404, 403, 403] },
  '/dashboard/audit': both(200, 403, 403, 403),
  '/dashboard/audit.csv': both(200, 403, 403, 403),
  '/dashboard/audit.xlsx': both(200, 403, 403, 403),
  '/dashboard/audit/:entryId': both(200, 403, 403, 403),
  '/dashboard/account': both(200, 200, 200, 200),
  '/dashboard/grants/:grantId/revoke': { own: [200, 200, 200, 200], foreign: [404, 404, 404, 404] },
  '/dashboard/sessions/:sessionId/end': { own: [200, 200, 200, 200], foreign: [404, 404, 404, 404] },
  '/dashboard/other-sessions/end': both(200, 200, 200, 200),
  '/dashboard/*': both(404, 404, 404, 404),
}

/** The same for forms that change something, after all redirects. */
const forms: Readonly<Record<string, Answers>> = {
  '/dashboard': both(400, 400, 400, 400),
  '/dashboard/courses': both(400, 400, 400, 400),
  '/dashboard/courses.csv': both(400, 400, 400, 400),
  '/dashboard/courses.xlsx': both(400, 400, 400, 400),
  '/dashboard/courses/:courseId': both(400, 400, 400, 400),
  '/dashboard/courses/:courseId/learners.csv': both(400, 400, 400, 400),
  '/dashboard/courses/:courseId/learners.xlsx': both(400, 400, 400, 400),
  '/dashboard/courses/:courseId/lessons': both(400, 400, 400, 400),
  '/dashboard/courses/:courseId/lessons.csv': both(400, 400, 400, 400),
  '/dashboard/courses/:courseId/lessons.xlsx': both(400, 400, 400, 400),
  '/dashboard/courses/:courseId/grades': both(400, 400, 400, 400),
  '/dashboard/courses/:courseId/grades.csv': both(400, 400, 400, 400),
  '/dashboard/courses/:courseId/grades.xlsx': both(400, 400, 400, 400),
  '/dashboard/people': both(400, 400, 400, 400),
  '/dashboard/people.csv': both(400, 400, 400, 400),
  '/dashboard/people.xlsx': both(400, 400, 400, 400),
  '/dashboard/report': both(400, 400, 400, 400),
  '/dashboard/report.html': both(400, 400, 400, 400),
  '/dashboard/learners/:userId': both(400, 400, 400, 400),
  '/dashboard/learners/:userId/courses.csv': both(400, 400, 400, 400),
  '/dashboard/learners/:userId/courses.xlsx': both(400, 400, 400, 400),
  '/dashboard/learners/:userId/grades': both(400, 400, 400, 400),
  '/dashboard/learners/:userId/grades.csv': both(400, 400, 400, 400),
  '/dashboard/learners/:userId/grades.xlsx': both(400, 400, 400, 400),
  '/dashboard/learners/:userId/history': both(400, 400, 400, 400),
  '/dashboard/learners/:userId/history.csv': both(400, 400, 400, 400),
  '/dashboard/learners/:userId/history.xlsx': both(400, 400, 400, 400),
  '/dashboard/grades/:gradeId': both(400, 400, 400, 400),
  '/dashboard/activity': both(400, 400, 400, 400),
  '/dashboard/activity.csv': both(400, 400, 400, 400),
  '/dashboard/activity.xlsx': both(400, 400, 400, 400),
  '/dashboard/keys': both(200, 200, 200, 200),
  '/dashboard/keys.csv': both(400, 400, 400, 400),
  '/dashboard/keys.xlsx': both(400, 400, 400, 400),
  '/dashboard/keys/:keyId/revoke': { own: [200, 200, 200, 200], foreign: [404, 404, 404, 404] },
  '/dashboard/apps': both(200, 403, 403, 403),
  '/dashboard/apps/:clientId/delete': both(200, 403, 403, 403),
  '/dashboard/integrations': both(400, 400, 400, 400),
  '/dashboard/integrations.csv': both(400, 400, 400, 400),
  '/dashboard/integrations.xlsx': both(400, 400, 400, 400),
  '/dashboard/integrations/:lmsKind': both(200, 403, 403, 403),
  '/dashboard/integrations/:lmsKind/remove': both(200, 403, 403, 403),
  '/dashboard/deliveries': both(200, 403, 403, 403),
  '/dashboard/deliveries.csv': both(400, 400, 400, 400),
  '/dashboard/deliveries.xlsx': both(400, 400, 400, 400),
  '/dashboard/deliveries/:deliveryId': both(200, 403, 403, 403),
  '/dashboard/endpoints': both(200, 403, 403, 403),
  '/dashboard/endpoints.csv': both(400, 400, 400, 400),
  '/dashboard/endpoints.xlsx': both(400, 400, 400, 400),
  '/dashboard/endpoints/:endpointId': both(200, 403, 403, 403),
  '/dashboard/endpoints/:endpointId/rotate': both(200, 403, 403, 403),
  '/dashboard/endpoints/:endpointId/delete': both(200, 403, 403, 403),
  '/dashboard/messages': both(400, 400, 400, 400),
  '/dashboard/messages.csv': both(400, 400, 400, 400),
  '/dashboard/messages.xlsx': both(400, 400, 400, 400),
  '/dashboard/messages/:messageId': both(200, 403, 403, 403),
  '/dashboard/calendars': both(200, 403, 403, 403),
  '/dashboard/calendars.csv': both(400, 400, 400, 400),
  '/dashboard/calendars.xlsx': both(400, 400, 400, 400),
  '/dashboard/calendars/:calendarId/revoke': both(200, 403, 403, 403),
  '/dashboard/changes': both(400, 400, 400, 400),
  '/dashboard/changes.csv': both(400, 400, 400, 400),
  '/dashboard/changes.xlsx': both(400, 400, 400, 400),
  '/dashboard/changes/:changeId': both(400, 400, 400, 400),
  '/dashboard/audit': both(400, 400, 400, 400),
  '/dashboard/audit.csv': both(400, 400, 400, 400),
  '/dashboard/audit.xlsx': both(400, 400, 400, 400),
  '/dashboard/audit/:entryId': both(400, 400, 400, 400),
  '/dashboard/account': both(200, 200, 200, 200),
  '/dashboard/grants/:grantId/revoke': { own: [200, 200, 200, 200], foreign: [404, 404, 404, 404] },
  '/dashboard/sessions/:sessionId/end': { own: [200, 200, 200, 200], foreign: [404, 404, 404, 404] },
  '/dashboard/other-sessions/end': both(200, 200, 200, 200),
  '/dashboard/sign-out': both(200, 200, 200, 200),
}

function both(...answers: readonly number[]): Answers {
  return { own: answers, foreign: answers }
}

const cases = roles.flatMap((role, index) =>
  (['own', 'foreign'] as const).map((whose) => ({ role, index, whose })),
)

test('every path of the dashboard is in these tables', () => {
  expect(Object.keys(pages)).toEqual(pathsOf('GET'))
  expect(Object.keys(forms)).toEqual(pathsOf('POST'))
})

test.for(cases)(
  'who is $role sees the pages of the table, about what is $whose',
  async ({ role, index, whose }, { academy, admin, signIn }) => {
    const person = await academy.person(role)
    const owner = whose === 'own' ? person : await academy.person('instructor')
    const things = await thingsOf(academy, owner, admin)
    const browser = await signIn(person)
    for (const [path, answers] of Object.entries(pages)) {
      const { status, text } = await browser.open(fillPath(path, things))
      expect({ path, status }).toEqual({ path, status: answers[whose][index] })
      if (status === 403) expect(text).toMatch(/Scope admin is required|requires role admin/)
    }
  },
)

test.for(cases)(
  'the forms that $role sends do what the table says, about what is $whose',
  async ({ role, index, whose }, { academy, admin, signIn }) => {
    const open = async () => {
      const person = await academy.person(role)
      const owner = whose === 'own' ? person : await academy.person('instructor')
      const things = await thingsOf(academy, owner, admin)
      const browser = await signIn(person)
      if (whose === 'foreign') await startOtherSession(academy, person)
      return { things, browser }
    }
    let opened = await open()
    let before = await readChangeable(academy)
    let isUsed = false
    for (const [path, answers] of Object.entries(forms)) {
      // If the form changed nothing, the next role finds all records unchanged.
      if (isUsed) {
        opened = await open()
        before = await readChangeable(academy)
      }
      const { things, browser } = opened
      const { status } = await sendForm(browser, fillPath(path, things), complete[path] ?? {})
      expect({ path, status }).toEqual({ path, status: answers[whose][index] })
      isUsed = status === 200
      if (isUsed) expect(await readChangeable(academy), path).not.toEqual(before)
      else expect(await readChangeable(academy), path).toEqual(before)
    }
  },
)

test('every page but a missing one asks a signed-out user to sign in', async ({ academy, admin, flow }) => {
  const things = await thingsOf(academy, admin, admin)
  flow.browser.forget()
  for (const path of pathsOf('GET')) {
    const page = await flow.browser.open(fillPath(path, things))
    expect({ path, status: page.status }).toEqual({ path, status: path === '/dashboard/*' ? 404 : 200 })
    expect({ path, asked: 'password' in (page.forms[0]?.fields ?? {}) }).toEqual({
      path,
      asked: path !== '/dashboard/*',
    })
    expect(page.text).not.toContain('Logic')
  }
})

test('a form without a sign-in does nothing', async ({ academy, admin, flow }) => {
  const things = await thingsOf(academy, admin, admin)
  flow.browser.forget()
  const before = await readChangeable(academy)
  for (const path of pathsOf('POST')) {
    const { forms } = await sendForm(flow.browser, fillPath(path, things), complete[path] ?? {})
    expect({ path, asked: 'password' in (forms[0]?.fields ?? {}) }).toEqual({ path, asked: true })
  }
  expect(await readChangeable(academy)).toEqual(before)
})
