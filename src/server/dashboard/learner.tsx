import sql from 'sql-template-tag'
import { analytics } from '../../contract/analytics.ts'
import { users } from '../../contract/users.ts'
import { requireRight } from '../http/handler.ts'
import { userRoutes } from '../users/users.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { framed } from './frame.tsx'
import { learnerCourses } from './learner-courses.tsx'
import { ask } from './signed-in-request.ts'

/** One learner and the courses they take, for those who work for the academy. */
export const learnerPage: DashboardPage = {
  path: '/dashboard/learners/:userId',
  async show(signedIn) {
    requireRight(signedIn.principal, analytics.learners)
    const { id, email, externalId, role, status, profile } = await ask(signedIn, userRoutes, users.get, {
      params: signedIn.params,
    })
    const name = [profile.firstName, profile.lastName].filter(Boolean).join(' ') || email
    return framed(
      signedIn,
      { title: name, section: '/dashboard' },
      <>
        <p class="back">
          <a href={`${signedIn.base}/dashboard`}>Overview</a>
        </p>
        <h1>{name}</h1>
        <p class="note">
          {name === email ? null : `${email} · `}
          {role}
          {status === 'active' ? null : ` · ${status}`}
          {' · '}
          <code>{externalId ?? id}</code>
        </p>
        {
          await learnerCourses({
            signedIn,
            conditions: [sql`u.id = ${id}`],
            caption: `Courses of ${name}`,
            none: 'Not enrolled in a course yet.',
          })
        }
      </>,
    )
  },
}
