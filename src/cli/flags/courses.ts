import { CourseInput, courses } from '../../contract/courses.ts'
import { GroupInput, groups } from '../../contract/groups.ts'
import { LessonInput, lessons } from '../../contract/lessons.ts'
import { TermInput, terms } from '../../contract/terms.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const courseFlags = {
  fields: flagsOf(
    CourseInput,
    {
      tags: { kind: 'words' },
    },
    [],
    ['learningObjectives', 'assessmentCriteria.moveOn', 'adaptiveDifficulty', 'progressTracking'],
  ),
  filters: filtersOf(courses.list, {
    q: { name: 'search', summary: 'Search titles and descriptions' },
    tag: { name: 'tags', summary: 'Filter by tag' },
  }),
  deletedFilters: filtersOf(courses.listDeleted, {}, ['sort']),
  versionFilters: filtersOf(courses.versions),
}

export const lessonFlags = {
  fields: flagsOf(
    LessonInput,
    {
      moduleId: { name: 'module', summary: 'Module: title, number of its place, or id' },
      dueAt: { time: 'future', never: true, default: 'never' },
    },
    ['courseId', 'title'],
    ['order', 'learningObjectives'],
  ),
  filters: filtersOf(lessons.list, {
    module_id: { name: 'module', summary: 'Filter by module: id, with --course also title' },
  }),
  deletedFilters: filtersOf(lessons.listDeleted, {}, ['sort']),
  versionFilters: filtersOf(lessons.versions),
}

export const termFlags = {
  fields: flagsOf(TermInput, {
    startDate: { placeholder: 'day' },
    endDate: { placeholder: 'day' },
  }),
  filters: filtersOf(terms.list, { name: { summary: 'Filter by name' } }),
}

export const groupFlags = {
  fields: flagsOf(GroupInput, {}, ['name', 'externalId', 'courseId']),
  filters: filtersOf(groups.list, {
    user_id: { summary: 'Filter by member: id, external id or e-mail address' },
    q: { name: 'search', summary: 'Search names' },
  }),
  deletedFilters: filtersOf(groups.listDeleted, {}, ['sort']),
  memberFilters: filtersOf(groups.members),
  membershipFilters: filtersOf(groups.memberships, {
    group_id: { summary: 'Filter by group: id, external id or name' },
  }),
}
