/** A record of a platform: values by field. */
export type Thing = Record<string, unknown>

/** Kinds of records; `row` is a line of the analytics, derived from the others. */
export type Noun = 'course' | 'lesson' | 'user' | 'progress' | 'row'

/** Records of a platform, by kind. */
export type Store = Readonly<Record<Noun, Thing[]>>

const titles = ['Marine Biology', 'Algebra', 'Go for Beginners']
const levels = ['beginner', 'intermediate', 'advanced']

/** Returns some courses, the owner of the key, two learners, and their progress in the first two courses. */
export function initialStore(id: (noun: Noun, n: number) => string | number, courses: number): Store {
  const course = Array.from({ length: courses }, (_, index) => ({
    id: id('course', index + 1),
    title: titles[index] ?? `Course ${index + 1}`,
    description: '',
    difficulty: levels[index % levels.length],
    status: index === 1 ? 'draft' : 'published',
    version: 1,
    createdAt: '2026-01-31T09:30:00Z',
  }))
  const user = ['owner', 'learner1', 'learner2'].map((name, index) => ({
    id: id('user', index + 1),
    email: `${name}@school.example`,
    role: index === 0 ? 'admin' : 'learner',
    createdAt: '2026-01-31T09:30:00Z',
  }))
  const progress = (learner: number, of: number, completionPercentage: number, lastAccessed: string) => ({
    learnerId: id('user', learner),
    courseId: id('course', of),
    completionPercentage,
    lastAccessed,
  })
  return {
    course,
    lesson: [],
    user,
    progress: [
      progress(2, 1, 40, '2026-02-20T10:00:00Z'),
      progress(3, 1, 100, '2026-02-21T10:00:00Z'),
      progress(2, 2, 12.5, '2026-02-22T10:00:00Z'),
    ],
    row: [],
  }
}
