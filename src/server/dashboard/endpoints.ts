import type { Endpoint } from '../http/endpoint.ts'
import { refusalPage, seeOther } from '../pages/page.tsx'
import { accountPage } from './account.tsx'
import { appDeletion, appsPage } from './apps.tsx'
import { auditEntryPage, auditPage } from './audit.tsx'
import { coursePage } from './course.tsx'
import { courseFile, gradeFile } from './course-file.ts'
import { courseGradesPage } from './course-grades.tsx'
import { endpointsOf, noPage, signOut } from './dashboard-page.ts'
import { deliveriesPage } from './deliveries.tsx'
import { deliveryPage } from './delivery.tsx'
import { endpointDeletion, endpointPage, endpointRotation } from './endpoint.tsx'
import { endpointsPage } from './endpoint-list.tsx'
import { gradePage } from './grade.tsx'
import { grantRevocation } from './grant-revocation.tsx'
import { integrationPage, integrationRemoval } from './integration.tsx'
import { integrationsPage } from './integrations.tsx'
import { keyRevocation, keysPage } from './keys.tsx'
import { learnerGradesPage, learnerPage } from './learner.tsx'
import { messagePage } from './message.tsx'
import { messagesPage } from './messages.tsx'
import { overview } from './overview.tsx'
import { otherSessionsEnd, sessionEnd } from './session-end.tsx'

const pages = [
  overview,
  coursePage,
  courseFile,
  courseGradesPage,
  gradeFile,
  learnerPage,
  learnerGradesPage,
  gradePage,
  keysPage,
  keyRevocation,
  appsPage,
  appDeletion,
  integrationsPage,
  integrationPage,
  integrationRemoval,
  deliveriesPage,
  deliveryPage,
  endpointsPage,
  endpointPage,
  endpointRotation,
  endpointDeletion,
  messagesPage,
  messagePage,
  auditPage,
  auditEntryPage,
  accountPage,
  grantRevocation,
  sessionEnd,
  otherSessionsEnd,
]

/** Everything at /dashboard. What answers where nothing else does comes last. */
export const dashboardEndpoints: readonly Endpoint[] = [...pages.flatMap(endpointsOf), signOut, noPage]

/** Where the bare address of a server leads. */
export const rootRedirect: Endpoint = {
  method: 'GET',
  path: '/',
  refuse: refusalPage,
  handle: ({ base }) => ({ reply: () => seeOther(`${base}/dashboard`) }),
}
