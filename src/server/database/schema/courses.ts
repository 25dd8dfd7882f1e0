import { deleted, integer, json, orNull, real, type Table, text, withDefault } from './table.ts'

/** Terms are sorted by `name_key` and by their dates, which are empty where they are not set. */
export const terms: Table = {
  name: 'terms',
  columns: {
    id: text,
    external_id: orNull(text),
    name: text,
    name_key: text,
    start_date: text,
    end_date: text,
    managed_by: orNull(text),
    version: integer,
    created_at: text,
    updated_at: text,
  },
  key: 'id',
  unique: ['external_id'],
  indexes: [
    'create index terms_by_created_at on terms (created_at, id)',
    'create index terms_by_updated_at on terms (updated_at, id)',
    'create index terms_by_name on terms (name_key, id)',
    'create index terms_by_start_date on terms (start_date, id)',
    'create index terms_by_manager on terms (managed_by, created_at, id) where managed_by is not null',
  ],
}

/**
 * Lists are sorted and searched by `title_key`, `search_key` and `level` (the rank of the difficulty). `passing_score` copies that
 * of the attributes: figures compare it with each grade.
 */
const courses: Table = {
  name: 'courses',
  columns: {
    id: text,
    external_id: orNull(text),
    title: text,
    description: text,
    difficulty: text,
    status: text,
    attributes: json,
    managed_by: orNull(text),
    version: integer,
    created_at: text,
    updated_at: text,
    published_at: orNull(text),
    archived_at: orNull(text),
    title_key: withDefault(text, ''),
    search_key: withDefault(text, ''),
    level: withDefault(integer, 0),
    created_by: orNull(text),
    term_id: orNull(text),
    passing_score: withDefault(real, 0),
  },
  key: 'id',
  unique: ['external_id'],
  indexes: [
    'create index courses_by_created_at on courses (created_at, id, status, level)',
    'create index courses_by_updated_at on courses (updated_at, id, status, level, created_at, title_key)',
    'create index courses_by_title on courses (title_key, id, status, level)',
    'create index courses_by_level on courses (level, id, status)',
    'create index courses_by_manager on courses (managed_by, status, level, created_at, id, updated_at, title_key) where managed_by is not null',
    'create index courses_by_creator on courses (created_by, id) where created_by is not null',
    'create index courses_by_term on courses (term_id, status, level, created_at, id, updated_at, title_key) where term_id is not null',
  ],
}

const courseVersions: Table = {
  name: 'course_versions',
  columns: {
    course_id: text,
    version: integer,
    attributes: json,
    modified_attributes: text,
    user_id: text,
    created_at: text,
  },
  key: 'course_id, version',
  references: [{ from: 'course_id', to: 'courses (id)', cascade: true }],
}

const courseTags: Table = {
  name: 'course_tags',
  columns: {
    tag: text,
    course_id: text,
  },
  key: 'tag, course_id',
  inKeyOrder: true,
  references: [{ from: 'course_id', to: 'courses (id)', cascade: true }],
  indexes: ['create index course_tags_by_course on course_tags (course_id)'],
}

const lessons: Table = {
  name: 'lessons',
  columns: {
    id: text,
    external_id: orNull(text),
    course_id: text,
    module_id: orNull(text),
    title: text,
    description: text,
    position: integer,
    duration_minutes: orNull(integer),
    status: text,
    content: text,
    managed_by: orNull(text),
    version: integer,
    created_at: text,
    updated_at: text,
    title_key: withDefault(text, ''),
    due_at: orNull(text),
  },
  key: 'id',
  unique: ['external_id'],
  references: [{ from: 'course_id', to: 'courses (id)', cascade: true }],
  indexes: [
    'create index lessons_by_course on lessons (course_id, position, id)',
    'create index lessons_by_position on lessons (position, id, status)',
    'create index lessons_by_created_at on lessons (created_at, id, status)',
    'create index lessons_by_updated_at on lessons (updated_at, id, status)',
    'create index lessons_by_title on lessons (title_key, id, status)',
    'create index lessons_by_status on lessons (status, position, id, created_at, updated_at, title_key, course_id)',
    'create index lessons_due on lessons (course_id, due_at) where due_at is not null',
    'create index lessons_by_module on lessons (module_id) where module_id is not null',
  ],
}

const lessonVersions: Table = {
  name: 'lesson_versions',
  columns: {
    lesson_id: text,
    version: integer,
    external_id: orNull(text),
    course_id: text,
    module_id: orNull(text),
    title: text,
    description: text,
    position: integer,
    duration_minutes: orNull(integer),
    status: text,
    content: text,
    managed_by: orNull(text),
    modified_attributes: text,
    user_id: orNull(text),
    created_at: text,
    due_at: orNull(text),
  },
  key: 'lesson_id, version',
  references: [{ from: 'lesson_id', to: 'lessons (id)', cascade: true }],
}

const deletions: Table = {
  name: 'deletions',
  columns: {
    id: text,
    kind: text,
    course_id: text,
    lessons: integer,
    enrollments: integer,
    progress: integer,
    grades: integer,
    user_id: text,
    deleted_at: text,
    groups: withDefault(integer, 0),
    members: withDefault(integer, 0),
  },
  key: 'id',
  indexes: [
    'create index deletions_by_time on deletions (deleted_at, id)',
    'create index deletions_by_kind on deletions (kind, deleted_at, id)',
    'create index deletions_by_course on deletions (course_id, kind, deleted_at, id)',
  ],
}

const deletedCourses = deleted(courses, {
  key: 'id',
  indexes: [
    'create index deleted_courses_by_external_id on deleted_courses (external_id) where external_id is not null',
    'create index deleted_courses_by_creator on deleted_courses (created_by, id) where created_by is not null',
  ],
})

const deletedCourseVersions = deleted(courseVersions, { key: 'course_id, version' })

const deletedCourseTags = deleted(courseTags, { key: 'course_id, tag' })

const deletedLessons = deleted(lessons, {
  key: 'id',
  indexes: [
    'create index deleted_lessons_by_course on deleted_lessons (course_id, id)',
    'create index deleted_lessons_by_external_id on deleted_lessons (external_id) where external_id is not null',
  ],
})

const deletedLessonVersions = deleted(lessonVersions, { key: 'lesson_id, version' })

export const courseTables: readonly Table[] = [
  terms,
  courses,
  courseVersions,
  courseTags,
  lessons,
  lessonVersions,
  deletions,
  deletedCourses,
  deletedCourseVersions,
  deletedCourseTags,
  deletedLessons,
  deletedLessonVersions,
]
