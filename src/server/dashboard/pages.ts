import type { WebRoute } from '../http/web-route.ts'
import { refusalPage, seeOther } from '../pages/page.tsx'
import { accountPages } from './account.tsx'
import { activityPages } from './activity.tsx'
import { appPages } from './apps.tsx'
import { auditPages } from './audit.tsx'
import { calendarPages } from './calendars.tsx'
import { changePages } from './changes.tsx'
import { coursePages } from './course.tsx'
import { courseGradesPages } from './course-grades.tsx'
import { courseLessonsPages } from './course-lessons.tsx'
import { coursesPages } from './courses.tsx'
import { noPage, pageRoutesOf, signOut } from './dashboard-page.ts'
import { deliveryPages } from './deliveries.tsx'
import { endpointPages } from './endpoints.tsx'
import { gradePage } from './grade.tsx'
import { integrationPages } from './integrations.tsx'
import { keyPages } from './keys.tsx'
import { messagePages } from './messages.tsx'
import { overview } from './overview.tsx'
import { learnerPages, peoplePages } from './people.tsx'
import { reportPages } from './report.tsx'

const pages = [
  overview,
  ...coursesPages,
  ...coursePages,
  ...courseLessonsPages,
  ...courseGradesPages,
  ...peoplePages,
  ...reportPages,
  ...learnerPages,
  gradePage,
  ...activityPages,
  ...keyPages,
  ...appPages,
  ...integrationPages,
  ...deliveryPages,
  ...endpointPages,
  ...messagePages,
  ...calendarPages,
  ...changePages,
  ...auditPages,
  ...accountPages,
]

/** `noPage` matches every path, so it comes last. */
export const dashboardRoutes: readonly WebRoute[] = [...pages.flatMap(pageRoutesOf), signOut, noPage]

export const rootRedirect: WebRoute = {
  method: 'GET',
  path: '/',
  refuse: refusalPage,
  handle: ({ base }) => seeOther(`${base}/dashboard`),
}
