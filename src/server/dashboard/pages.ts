import type { WebRoute } from '../http/web-route.ts'
import { refusalPage, seeOther } from '../pages/page.tsx'
import { accountPage, grantRevocation, otherSessionsEnd, sessionEnd } from './account.tsx'
import { activityFile, activityPage } from './activity.tsx'
import { appDeletion, appsPage } from './apps.tsx'
import { auditFile, auditPage } from './audit.tsx'
import { auditEntryPage } from './audit-entry.tsx'
import { calendarRevocation, calendarsFile, calendarsPage } from './calendars.tsx'
import { changePage, changesFile, changesPage } from './changes.tsx'
import { courseFile, coursePage, courseWorkbook, gradeFile } from './course.tsx'
import { courseGradesPage, gradesWorkbook } from './course-grades.tsx'
import { courseLessonsPage, lessonsFile } from './course-lessons.tsx'
import { coursesFile, coursesPage } from './courses.tsx'
import { noPage, pageRoutesOf, signOut } from './dashboard-page.ts'
import { deliveriesFile, deliveriesPage } from './deliveries.tsx'
import { deliveryPage } from './delivery.tsx'
import { endpointDeletion, endpointPage, endpointRotation } from './endpoint.tsx'
import { endpointsFile, endpointsPage } from './endpoints.tsx'
import { gradePage } from './grade.tsx'
import { integrationPage, integrationRemoval } from './integration.tsx'
import { integrationsFile, integrationsPage } from './integrations.tsx'
import { keyRevocation, keysFile, keysPage } from './keys.tsx'
import {
  learnerCoursesFile,
  learnerGradesFile,
  learnerGradesPage,
  learnerHistoryFile,
  learnerHistoryPage,
  learnerPage,
} from './learner.tsx'
import { messagePage } from './message.tsx'
import { messagesFile, messagesPage } from './messages.tsx'
import { overview } from './overview.tsx'
import { peopleFile, peoplePage } from './people.tsx'
import { reportFile, reportPage } from './report.tsx'
import { tableFilePages } from './table-file.tsx'

const pages = [
  overview,
  coursesPage,
  ...tableFilePages(coursesFile),
  coursePage,
  courseFile,
  courseWorkbook,
  courseLessonsPage,
  ...tableFilePages(lessonsFile),
  courseGradesPage,
  gradeFile,
  ...tableFilePages(gradesWorkbook),
  peoplePage,
  ...tableFilePages(peopleFile),
  reportPage,
  reportFile,
  learnerPage,
  ...tableFilePages(learnerCoursesFile),
  learnerGradesPage,
  ...tableFilePages(learnerGradesFile),
  learnerHistoryPage,
  ...tableFilePages(learnerHistoryFile),
  gradePage,
  activityPage,
  ...tableFilePages(activityFile),
  keysPage,
  ...tableFilePages(keysFile),
  keyRevocation,
  appsPage,
  appDeletion,
  integrationsPage,
  ...tableFilePages(integrationsFile),
  integrationPage,
  integrationRemoval,
  deliveriesPage,
  ...tableFilePages(deliveriesFile),
  deliveryPage,
  endpointsPage,
  ...tableFilePages(endpointsFile),
  endpointPage,
  endpointRotation,
  endpointDeletion,
  messagesPage,
  ...tableFilePages(messagesFile),
  messagePage,
  calendarsPage,
  ...tableFilePages(calendarsFile),
  calendarRevocation,
  changesPage,
  ...tableFilePages(changesFile),
  changePage,
  auditPage,
  ...tableFilePages(auditFile),
  auditEntryPage,
  accountPage,
  grantRevocation,
  sessionEnd,
  otherSessionsEnd,
]

/** `noPage` matches every path, so it comes last. */
export const dashboardRoutes: readonly WebRoute[] = [...pages.flatMap(pageRoutesOf), signOut, noPage]

export const rootRedirect: WebRoute = {
  method: 'GET',
  path: '/',
  refuse: refusalPage,
  handle: ({ base }) => ({ reply: () => seeOther(`${base}/dashboard`) }),
}
