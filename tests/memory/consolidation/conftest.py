"""Tests of consolidation ask the scripted model server."""

from tests.providers.scripted import model_server as model_server
