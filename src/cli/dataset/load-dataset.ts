import type { Dataset, DatasetName } from './dataset.ts'

export async function loadDataset(name: DatasetName): Promise<Dataset> {
  switch (name) {
    case 'terms':
      return (await import('./terms.ts')).terms
    case 'courses':
      return (await import('./courses.ts')).courses
    case 'lessons':
      return (await import('./lessons.ts')).lessons
    case 'users':
      return (await import('./users.ts')).users
    case 'groups':
      return (await import('./groups.ts')).groups
    case 'memberships':
      return (await import('./memberships.ts')).memberships
    case 'enrollments':
      return (await import('./enrollments.ts')).enrollments
    case 'grades':
      return (await import('./grades.ts')).grades
    case 'progress':
      return (await import('./progress.ts')).progress
  }
}
