// Made from openapi.json by `npm run generate`.
export const newPolicy = {
  "type": "object",
  "required": [
    "name",
    "effect"
  ],
  "properties": {
    "name": {
      "type": "string",
      "minLength": 1,
      "maxLength": 200,
      "pattern": "^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069\\n]*$"
    },
    "effect": {
      "enum": [
        "deny",
        "require_approval",
        "allow"
      ]
    },
    "priority": {
      "type": "integer",
      "minimum": -1000000,
      "maximum": 1000000
    },
    "agentId": {
      "anyOf": [
        {
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "pattern": "^[ -~]*$"
        },
        {
          "type": "null"
        }
      ]
    },
    "principalId": {
      "anyOf": [
        {
          "type": "string",
          "minLength": 1,
          "maxLength": 256,
          "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"
        },
        {
          "type": "null"
        }
      ]
    },
    "scopes": {
      "anyOf": [
        {
          "type": "array",
          "items": {
            "type": "string"
          },
          "minItems": 1,
          "maxItems": 100
        },
        {
          "type": "null"
        }
      ]
    },
    "timeOfDayStart": {
      "anyOf": [
        {
          "type": "string",
          "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"
        },
        {
          "type": "null"
        }
      ]
    },
    "timeOfDayEnd": {
      "anyOf": [
        {
          "type": "string",
          "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"
        },
        {
          "type": "null"
        }
      ]
    },
    "timeZone": {
      "anyOf": [
        {
          "type": "string",
          "minLength": 1,
          "maxLength": 64
        },
        {
          "type": "null"
        }
      ]
    },
    "daysOfWeek": {
      "anyOf": [
        {
          "type": "array",
          "items": {
            "enum": [
              "sun",
              "mon",
              "tue",
              "wed",
              "thu",
              "fri",
              "sat"
            ]
          },
          "minItems": 1,
          "maxItems": 7
        },
        {
          "type": "null"
        }
      ]
    },
    "purposes": {
      "anyOf": [
        {
          "type": "array",
          "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": 128
          },
          "minItems": 1,
          "maxItems": 100
        },
        {
          "type": "null"
        }
      ]
    },
    "networks": {
      "anyOf": [
        {
          "type": "array",
          "items": {
            "type": "string",
            "minLength": 2,
            "maxLength": 64
          },
          "minItems": 1,
          "maxItems": 100
        },
        {
          "type": "null"
        }
      ]
    },
    "delegationDepthMin": {
      "anyOf": [
        {
          "type": "integer",
          "minimum": 0,
          "maximum": 255
        },
        {
          "type": "null"
        }
      ]
    },
    "delegationDepthMax": {
      "anyOf": [
        {
          "type": "integer",
          "minimum": 0,
          "maximum": 255
        },
        {
          "type": "null"
        }
      ]
    },
    "connector": {
      "anyOf": [
        {
          "type": "string",
          "pattern": "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"
        },
        {
          "type": "null"
        }
      ]
    },
    "tools": {
      "anyOf": [
        {
          "type": "array",
          "items": {
            "type": "string",
            "minLength": 1,
            "maxLength": 256,
            "pattern": "^[!-~]+$"
          },
          "minItems": 1,
          "maxItems": 100
        },
        {
          "type": "null"
        }
      ]
    },
    "arguments": {
      "anyOf": [
        {
          "type": "object",
          "properties": {},
          "additionalProperties": true,
          "maxProperties": 100
        },
        {
          "type": "null"
        }
      ]
    }
  },
  "additionalProperties": false
} as const;
