import {
  csv,
  type ForeignPlatform,
  foreignPlatform,
  json,
  type PlatformOptions,
  type Style,
  snakeCase,
} from './platform.ts'
import type { Noun, Thing } from './store.ts'

/**
 * A platform as written with Express and Mongo in an afternoon: bare arrays, snake_case, `_id` and `__v`, 200 for
 * everything that works, `{"error": "…"}` for everything else. It sends lists in one piece.
 */
export function expressPlatform(options: PlatformOptions = {}): ForeignPlatform {
  return foreignPlatform('express.example', style, options)
}

const kinds: Readonly<Record<Noun, string>> = {
  course: 'c0',
  lesson: 'de',
  user: 'a5',
  progress: 'b0',
  row: '00',
}

const style: Style = {
  // An ObjectId: 24 hexadecimal digits.
  id: (noun, n) => `65f0a1b2c3d4e5f6${kinds[noun]}${n.toString(16).padStart(6, '0')}`,
  list: (_, things) => json(200, things.map(shown)),
  created: (_, thing) => json(200, shown(thing)),
  changed: (_, thing) => json(200, shown(thing)),
  profile: (user) => json(200, shown(user)),
  csv: (rows) => csv(columns, rows.map(shown)),
  refused: (status, message) => json(status, { error: message }),
}

const columns = ['learner_id', 'email', 'course_id', 'course_title', 'completion_percentage', 'last_accessed']

function shown({ id, version, ...rest }: Thing): Thing {
  return {
    ...(id !== undefined && { _id: id }),
    ...snakeCase(rest),
    ...(version !== undefined && { __v: Number(version) - 1 }),
  }
}
