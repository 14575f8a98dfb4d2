"""Attacks on the app: hostile servers, links, files and prompts, kills, full disks, damaged stores.

Each test is one attack, or a family of attacks as its parameters.
"""
