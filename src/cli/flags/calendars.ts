import { CalendarInput, calendars } from '../../contract/calendars.ts'
import { courseFilter, filtersOf, flagsOf, userFilter, userFlag } from './derive-flags.ts'

export const fields = flagsOf(CalendarInput, { courseId: { name: 'course' }, userId: userFlag })

export const filters = filtersOf(calendars.list, {
  course_id: { ...courseFilter, kind: 'text', summary: 'Filter by course: id or external id' },
  user_id: userFilter('user'),
})
